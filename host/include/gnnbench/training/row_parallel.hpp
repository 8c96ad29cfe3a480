#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gnnbench/strategy.hpp>
#include <gnnbench/training/adjacency.hpp>
#include <gnnbench/training/distributed_spmm.hpp>
#include <gnnbench/training/layer_plan.hpp>
#include <gnnbench/training/stated_memory.hpp>

/// Shared by every strategy that gives a rank all columns of its own rows: CAGNET 1D and 1.5D, MG-GCN, the
/// sparsity-aware ones, Demirci et al., BNS-GCN, one device. They differ in how they multiply by Â (a
/// DistributedSpmm) and in the order of products inside a layer (a LayerPlan); the rest is common.

namespace gnnbench {

/// Which rows a rank holds, and over whom gradients and loss are summed: ranks that hold one part each. Where rows
/// are replicated (1.5D), each replica has its own group to sum over.
struct RowLayout {
    Part part = 0;
    std::shared_ptr<Communicator> group;
    /// Vertices of other parts whose rows it computes too, after its own.
    std::vector<GlobalId> copies = {};
};

/// The volume of one product of a given width by Â or Âᵀ, one rank.
using SpmmVolume = std::function<Volume(Direction, std::int64_t width)>;

/// One epoch of one rank: the products of the plan, an all-reduce of each layer's gradients and of the loss (one
/// float64, metadata) over the `ranks` of its RowLayout's group, in which it is number `rank`.
Volume row_parallel_volume(const LayerPlan& plan, const SpmmVolume& product, int ranks, int rank,
                           std::int64_t element_bytes);

/// The same where a layer's product may differ from another's of its width: the first argument is its number in the plan.
struct LayerProduct {
    int layer = 0;
    Direction direction = Direction::forward;
    std::int64_t width = 0;
    bool again = false;  ///< backward, of the forward pass' rows (Layer::again)
};
using LayerVolume = std::function<Volume(const LayerProduct&)>;
Volume row_parallel_volume(const LayerPlan& plan, const LayerVolume& product, int ranks, int rank,
                           std::int64_t element_bytes);

/// The memory of one rank's DistributedSpmm for operands of up to `widest` columns.
using StateSpmmMemory = std::function<void(MemoryStatement&, std::int64_t widest)>;

/// The bytes that a rank with the rows of `part` holds, as stated_memory means it. In elements, with n its rows:
///   X n·f_0 unless only its sparse form is held, and its moments where it is trained; the network's (Network::state_memory); the product's own; labels,
///   splits and ids; the loss and the counts of correct rows.
std::int64_t row_parallel_memory(const LayerPlan& plan, const Problem& problem, Part part,
                                 const StateSpmmMemory& product, std::int64_t element_bytes,
                                 std::int64_t copies = 0);

/// One product in which every rank broadcasts its rows once: a root sends its block to P − 1 others and receives
/// the rest. `row_bytes` is width × element size.
Volume block_row_volume(const IndexMap& index, int rank, std::int64_t row_bytes);

/// Every layer that aggregates in the same order, and every one that attends, except layer 0 where the model aggregates its
/// input at set-up.
LayerPlan same_order_plan(const Problem& problem, LayerOrder order, LayerOrder attends = attention);

/// Z = (Â H) W forward and dW = Hᵀ (Âᵀ G) backward in every layer, whatever the widths: CAGNET and what descends
/// from it.
inline LayerPlan aggregate_first_plan(const Problem& problem, LayerOrder attends = attention) {
    return same_order_plan(problem, aggregate_first, attends);
}

LayerPlan narrowest_plan(const Problem& problem);

/// Why a row-parallel strategy does not support a setting; empty if it does. `no_attention`: why it has none for this
/// setting; empty if its products are sums over blocks on the rank of their rows (DistributedSpmm::accumulate).
std::string row_parallel_why_unsupported(const Setting& setting, std::string_view no_attention = {});

/// Â of the whole graph on this device, prepared; the index has one part.
std::unique_ptr<DistributedSpmm> make_whole_spmm(const Adjacency& a, const IndexMap& index, Backend& backend);

/// Makes the DistributedSpmm of one rank; `widest` is the widest operand of an epoch.
using MakeSpmm = std::function<std::unique_ptr<DistributedSpmm>(const Adjacency&, std::int64_t widest)>;

/// A Network of the plan's layers, loss, all-reduces and trained features. Buffers are the plan's; where shared,
/// after MG-GCN's section 4.2: one per layer for its output (AHW, in place: Z, H, dZ), one for T, U or V that all
/// layers share (HW), what the DistributedSpmm needs (BC1, BC2), and T of every layer that keeps it. With input
/// dropout, one more for the dropped X, and one for the dropped ÂX where that is held beside X.
///
/// The second form is for layouts other than one part per rank.
std::unique_ptr<CollectiveTrainer> make_row_parallel_trainer(const Problem& problem, Rank rank, LayerPlan plan,
                                                             const MakeSpmm& make_spmm);
std::unique_ptr<CollectiveTrainer> make_row_parallel_trainer(const Problem& problem, Rank rank, RowLayout layout,
                                                             LayerPlan plan, const MakeSpmm& make_spmm);

}  // namespace gnnbench
