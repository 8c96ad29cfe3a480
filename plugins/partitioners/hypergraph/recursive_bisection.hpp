#pragma once
#include <cstdint>
#include <vector>

#include "hypergraph.hpp"

namespace gnnbench::hypergraph {

/// A partition into `parts`, by bisecting and bisecting again; aims at parts of at most `limit`, without promising it.
std::vector<PartId> bisect_recursively(Hypergraph& h, PartId parts, Weight limit, int tries, std::uint64_t seed);

}  // namespace gnnbench::hypergraph
