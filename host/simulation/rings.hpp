#pragma once
#include <span>

#include <gnnbench/simulation/machine.hpp>

namespace gnnbench::simulation {

/// How many rings through all of some devices of a node its links carry at the same time, a link being one hop of a ring in
/// each direction: as many as NCCL can build. 0: no ring of links joins them. Links among other devices do not count.
int rings_among(std::span<const Links::Pair> pairs, std::span<const int> devices);

}  // namespace gnnbench::simulation
