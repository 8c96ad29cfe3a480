#pragma once
#include <vector>

#include "record/timeline.hpp"

namespace gnnbench {

/// A span's place in a drawing.
struct SpanPlace {
    int lane = 0;   ///< within its rank's stream: overlapping spans are in different lanes
    int stage = 0;  ///< from 1, among its operation's spans within one product; 0: it is the only one
};

/// The place of each of the timeline's spans, which must be sorted as read_timeline sorts them.
///
/// A distributed product is everything between two other computations (GEMM, activation, loss, optimizer). Its
/// stages are the SpMMs, and the broadcasts, that the strategy issued in it, in their order.
std::vector<SpanPlace> places_of(const Timeline& timeline);

/// Lanes that rank and stream need: one more than the largest lane, and at least one.
int lane_count(const Timeline& timeline, const std::vector<SpanPlace>& places, std::int64_t rank,
               bool communicates);

}  // namespace gnnbench
