#pragma once
#include <memory>
#include <vector>

#include <gnnbench/training/problem.hpp>
#include <gnnbench/training/row_parallel.hpp>

#include "policy.hpp"

namespace gnnbench::sancus {

/// By layer of the plan. Layers without a product by Â cache nothing.
std::vector<CachedLayer> cached_layers(const Problem& p, const LayerPlan& plan);

/// Products whose broadcasts are left out while what was sent before is fresh enough, forward. Backward, evaluation and
/// set-up broadcast all rows.
std::unique_ptr<DistributedSpmm> make_cached_broadcasts(const Problem& p, const Adjacency& a, Rank rank,
                                                        const LayerPlan& plan, const Policy& policy);

/// What the rank of `part` holds for them on its device.
void state_cached_broadcasts(MemoryStatement& m, const Problem& p, Part part, const LayerPlan& plan,
                             const Policy& policy);

}  // namespace gnnbench::sancus
