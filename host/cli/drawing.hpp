#pragma once
#include <filesystem>
#include <string>

#include "record/comparison.hpp"
#include "report/figure.hpp"

namespace gnnbench {

/// A figure as gnuplot draws it, with the timelines that it shows; empty where its script is (see figure_script).
/// Throws SpecError for a definition without a plot, EnvironmentError where there is no gnuplot.
std::string drawn_figure(const ResolvedTable& resolved, const std::filesystem::path& database, FigureFormat format,
                         FigureHeading heading = FigureHeading::shown);

/// An experiment's times over GPUs (see scaling_script), as gnuplot draws it.
std::string drawn_scaling(const ComparisonData& data, FigureFormat format,
                          FigureHeading heading = FigureHeading::shown);

}  // namespace gnnbench
