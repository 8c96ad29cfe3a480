#pragma once
#include <span>
#include <vector>

#include "gains.hpp"
#include "partitioned.hpp"

namespace gnnbench::hypergraph {

/// Moves vertices out of parts heavier than `limit` at the least loss for their weight. `best` (length vertices) are
/// moves found before, in whose order it tries; empty: it finds them. Sets touched[e] as move_all does. True if every
/// part fits.
bool rebalance(Partitioned& partition, Weight limit, std::span<const BestMove> best, std::vector<char>& touched);

}  // namespace gnnbench::hypergraph
