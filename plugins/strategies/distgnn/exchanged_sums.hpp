#pragma once
#include <memory>

#include <gnnbench/strategy.hpp>
#include <gnnbench/training/distributed_spmm.hpp>
#include <gnnbench/training/layer_plan.hpp>
#include <gnnbench/training/stated_memory.hpp>

#include "algorithm.hpp"
#include "held_copies.hpp"

namespace gnnbench::dist {

/// Products by a rank's entries of Â, whose partial sums are exchanged among the copies of a vertex. Evaluation and set-up
/// exchange them at once, whatever the algorithm.
std::unique_ptr<DistributedSpmm> make_exchanged_sums(const Problem& problem, const Adjacency& a,
                                                     std::shared_ptr<const HeldCopies> copies, Rank rank,
                                                     const LayerPlan& plan, const Algorithm& algorithm);

/// What they hold on the device, prepared matrices apart.
void state_exchanged_sums(MemoryStatement& m, const HeldCopies& copies, const LayerPlan& plan,
                          const Algorithm& algorithm);

/// What one product of a layer sends and receives in an epoch.
Volume exchanged_sums_volume(const HeldCopies& copies, Direction d, const Algorithm& algorithm, std::int64_t epoch,
                             const CopiedColumns& columns, std::int64_t element_bytes);

}  // namespace gnnbench::dist
