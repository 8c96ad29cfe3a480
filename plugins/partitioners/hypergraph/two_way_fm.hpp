#pragma once
#include <vector>

#include "bisection.hpp"

namespace gnnbench::hypergraph {

/// Improves a bisection: less excess over the limits first, then a smaller cut. Returns the cut.
std::int64_t refine_two_way(const Hypergraph& h, const BisectionGoal& goal, std::vector<PartId>& side, int passes);

/// Grows side 0 from `start`, by the best gain next, until it weighs goal.target[0]; the rest is side 1.
std::vector<PartId> grow(const Hypergraph& h, const BisectionGoal& goal, Id start);

}  // namespace gnnbench::hypergraph
