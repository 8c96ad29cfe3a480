#pragma once
#include "partitioned.hpp"

namespace gnnbench::distributed {

/// Moves vertices out of parts heavier than `limit` at the least loss for their weight. True if every part fits.
/// Collective.
bool rebalance(const Ranks& ranks, Partitioned& partition, Weight limit);

/// Gives each empty part a vertex of the heaviest part that has several. Collective.
void fill_empty_parts(const Ranks& ranks, Partitioned& partition);

}  // namespace gnnbench::distributed
