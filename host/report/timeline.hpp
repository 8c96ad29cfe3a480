#pragma once
#include <limits>
#include <string>

#include "record/timeline.hpp"

namespace gnnbench {

/// As Chrome's trace events, for Perfetto: a process for each rank, a thread for each stream, microseconds.
std::string timeline_chrome(const Timeline& timeline);

/// What a figure shows of an epoch, in seconds since it began.
struct TimelineWindow {
    double begin_s = 0, end_s = std::numeric_limits<double>::infinity();
};
/// As the figures of the papers: for each rank computation above communication, the stages of a product numbered.
/// Throws SpecError where the window holds nothing of the epoch.
std::string timeline_svg(const Timeline& timeline, const TimelineWindow& window = {});

}  // namespace gnnbench
