#pragma once
#include <string>
#include <vector>

#include "record/timeline.hpp"
#include "report/resolved_table.hpp"

namespace gnnbench {

enum class FigureFormat { svg, png, pdf };

/// A row's traced epoch, for figures of kind timeline.
struct TimelinePanel {
    std::string title;
    Timeline timeline;
};

/// Whether a figure has a heading of its own, or the page around it does; then an empty figure has no script.
enum class FigureHeading { shown, left_out };

/// A definition with a plot as a gnuplot script, without `set output`. Ours are filled marks and solid lines, simulated
/// numbers open marks and dashed lines, the paper's crosses and dotted lines; of bars ours are full, simulated ones pale
/// and the paper's hatched; in one colour per series, safe for the colour-blind. Places without a number are
/// not drawn; an empty figure says so. Throws SpecError for a definition without a plot.
std::string figure_script(const ResolvedTable& resolved, FigureFormat format,
                          const std::vector<TimelinePanel>& panels = {},
                          FigureHeading heading = FigureHeading::shown);

}  // namespace gnnbench
