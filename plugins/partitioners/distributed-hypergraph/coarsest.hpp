#pragma once
#include <cstdint>
#include <vector>

#include "level.hpp"

namespace gnnbench::distributed {

/// The parts of own vertices by `hypergraph`'s partitioner, whose best result of some seeds is taken; each rank tries some
/// of them, on the whole hypergraph. Nets are left out at random where it has more than `most_pins`. Collective.
std::vector<PartId> partition_whole(const Ranks& ranks, const Level& level, PartId parts, Weight limit,
                                    std::int64_t most_pins, std::uint64_t seed);

}  // namespace gnnbench::distributed
