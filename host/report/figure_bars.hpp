#pragma once
#include "report/figure_data.hpp"
#include "report/figure_parts.hpp"
#include "spec/table_definition.hpp"

namespace gnnbench {

/// Grouped bars: for each x the series in turn, ours and then the paper's.
FigureParts bar_parts(const FigureData& d, const PlotDefinition& plot);

/// Stacked bars; where the paper has numbers for an x, its bar is beside ours.
FigureParts stacked_parts(const FigureData& d);

}  // namespace gnnbench
