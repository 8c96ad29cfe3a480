#pragma once
#include <memory>
#include <optional>

#include <gnnbench/training/halo.hpp>
#include <gnnbench/training/row_parallel.hpp>

namespace gnnbench::pipe {

/// γ of what is smoothed; none: it is used as it arrives.
struct Smoothing {
    std::optional<double> features, gradients;
};

/// Products that use the boundary rows of the epoch before. Evaluation and set-up use those of the same pass. `runs_on`:
/// what an epoch sends is waited for where the next one uses it, and no sum of weights' gradients waits behind it.
std::unique_ptr<DistributedSpmm> make_pipelined_boundaries(const Adjacency& a, const IndexMap& index, Rank rank,
                                                           const LayerPlan& plan, const Smoothing& smoothing,
                                                           bool runs_on);

/// What they hold on the device of a part that needs and sends so many rows, beside a BoundarySpmm's.
void state_stale_rows(MemoryStatement& m, const HaloRoom& rows, const LayerPlan& plan);

}  // namespace gnnbench::pipe
