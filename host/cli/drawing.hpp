#pragma once
#include <filesystem>
#include <string>

#include "record/comparison.hpp"
#include "report/figure.hpp"
#include "report/scaling_figure.hpp"

namespace gnnbench {

/// A figure's gnuplot script, with the timelines that it shows; empty where figure_script's is. Throws SpecError for a
/// definition without a plot.
std::string script_of(const ResolvedTable& resolved, const std::filesystem::path& database,
                      const FigureLook& look);

/// The same as gnuplot draws it. Throws EnvironmentError where there is no gnuplot.
std::string drawn_figure(const ResolvedTable& resolved, const std::filesystem::path& database,
                         const FigureLook& look);

/// An experiment's times over GPUs (see scaling_script), as gnuplot draws it.
std::string drawn_scaling(const ComparisonData& data, const FigureLook& look,
                          ScalingQuantity quantity = ScalingQuantity::time);

}  // namespace gnnbench
