#pragma once
#include <optional>

#include "record/timeline.hpp"

namespace gnnbench {

/// One distributed SpMM of a traced epoch, as in MG-GCN's Figures 6 and 8: of those common to all ranks, the first
/// that moved most bytes. A product consists of a rank's spans between two other computations (GEMM, activation,
/// loss, optimizer), with an SpMM among them. Its spans alone, in seconds since its first rank began it; `wall_s` is
/// its length until its last rank's end. Empty if the epoch has none.
std::optional<Timeline> largest_product(const Timeline& timeline);

}  // namespace gnnbench
