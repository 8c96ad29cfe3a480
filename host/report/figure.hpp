#pragma once
#include <string>
#include <vector>

#include "record/timeline.hpp"
#include "report/resolved_table.hpp"

namespace gnnbench {

enum class FigureFormat { svg, png };

/// A row's traced epoch, for figures of kind timeline.
struct TimelinePanel {
    std::string title;
    Timeline timeline;
};

/// Whether a figure says what it is, or what is around it does; then one without anything to draw has no script.
enum class FigureHeading { shown, left_out };

/// A definition with a plot as a gnuplot script, without `set output`. Ours are filled marks and solid lines, the
/// paper's open ones and dashed lines, of one colour for each series, apart for the colour-blind. What has no number is
/// not drawn; a figure without any says so. Throws SpecError for a definition without a plot.
std::string figure_script(const ResolvedTable& resolved, FigureFormat format,
                          const std::vector<TimelinePanel>& panels = {},
                          FigureHeading heading = FigureHeading::shown);

}  // namespace gnnbench
