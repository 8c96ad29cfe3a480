#pragma once
#include <cstdint>
#include <vector>

#include "hypergraph.hpp"

namespace gnnbench::hypergraph {

struct BisectionGoal {
    Weight target[2];  ///< aimed at
    Weight limit[2];   ///< allowed
    int tries = 8;     ///< starts on the coarsest hypergraph
};

/// The side (0 or 1) of every vertex: a multilevel bisection.
std::vector<PartId> bisect(Hypergraph& h, const BisectionGoal& goal, std::uint64_t seed);

}  // namespace gnnbench::hypergraph
