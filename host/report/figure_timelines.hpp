#pragma once
#include <string>
#include <vector>

#include "report/figure_parts.hpp"

namespace gnnbench {

/// Spans of each panel's ranks, computation above communication.
FigureParts timeline_parts(const std::vector<TimelinePanel>& panels);

/// What was measured and what was simulated, whose times may be far apart, on axes of their own under these titles.
PanelFigure timeline_figure(const std::vector<TimelinePanel>& panels, const std::string& measured,
                            const std::string& simulated);

}  // namespace gnnbench
