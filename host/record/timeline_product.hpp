#pragma once
#include <optional>

#include "record/timeline.hpp"

namespace gnnbench {

/// One distributed SpMM of a traced epoch, as MG-GCN's Figures 6 and 8 show it: of those that all ranks made, the first
/// that moved most bytes. A product is what a rank's spans hold between two other computations (GEMM, activation, loss,
/// optimizer), with an SpMM among them. Its spans alone, in seconds since its first rank began it; `wall_s` is its length
/// up to its last rank's end. Empty where the epoch has none.
std::optional<Timeline> largest_product(const Timeline& timeline);

}  // namespace gnnbench
