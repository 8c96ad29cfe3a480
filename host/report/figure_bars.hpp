#pragma once
#include "report/figure.hpp"
#include "report/figure_data.hpp"
#include "report/figure_parts.hpp"

namespace gnnbench {

/// Grouped bars: for each x the series in turn, each with ours, simulated and the paper's. What places have instead of numbers
/// stands upright in them, or, where bars are narrower than a line of text, in `below`.
FigureParts bar_parts(const ResolvedTable& r, const FigureData& d, const FigureLook& look,
                      std::vector<std::string>& below);

/// Stacked bars; simulated ones and the paper's are beside ours.
FigureParts stacked_parts(const ResolvedTable& r, const FigureData& d, const FigureLook& look);

}  // namespace gnnbench
