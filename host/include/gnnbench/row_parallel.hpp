#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gnnbench/adjacency.hpp>
#include <gnnbench/stated_memory.hpp>
#include <gnnbench/strategy.hpp>

/// What every strategy shares that gives a rank all columns of its own rows: CAGNET 1D and 1.5D, MG-GCN, the
/// sparsity-aware ones, Demirci et al., BNS-GCN, one device. They differ in how they multiply by Â (a
/// DistributedSpmm) and in the order of products inside a layer (a LayerPlan); the rest is here, once.

namespace gnnbench {

/// Multiplies this rank's rows of Â or Âᵀ by a dense matrix that all ranks hold by rows.
class DistributedSpmm {
public:
    virtual ~DistributedSpmm();
    /// c [n_p × f] ← epilogue(Σ_j Â_pj B_j), or Âᵀ's blocks. b = B_p [n_p × f]. Both contiguous; they do not
    /// overlap. Leaves nothing under way that touches b or c.
    virtual void multiply(Direction d, MatrixView b, MatrixView c, const Epilogue& epilogue) = 0;
    /// Called before the products of a training epoch, and of a forward pass that only evaluates.
    virtual void begin_epoch(std::int64_t /*epoch*/) {}
    virtual void begin_evaluation() {}
    virtual std::string notes() const { return {}; }
};

/// How a layer H [n × f] → Z [n × g] multiplies, and what its weight gradient is made of. G = dLoss/dZ.
enum class LayerOrder : std::uint8_t {
    /// T = HW; Z = ÂT.   U = ÂᵀG; dW = HᵀU; dH = UWᵀ.          SpMM widths g, g. (Equations 5–11 of MG-GCN)
    transform_first,
    /// T = ÂH; Z = TW.   U = ÂᵀG; dW = HᵀU; dH = UWᵀ.          widths f, g. T is not kept. (CAGNET)
    aggregate_first,
    /// T = ÂH; Z = TW.   dW = TᵀG; V = GWᵀ; dH = ÂᵀV.          widths f, f. T is kept for dW.
    aggregate_first_kept,
    /// Z = TW with T = ÂX made at set-up.   dW = TᵀG.          no SpMM at all; layer 0 only.
    aggregated_input,
    /// As transform_first, but dW = HᵀG and no SpMM backward: MG-GCN's shortcut for layer 0; not the gradient.
    transform_first_shortcut,
    /// As aggregate_first_kept, but dW = HᵀG and T is not kept: its shortcut for widening layers; not the
    /// gradient.
    aggregate_first_shortcut,
};

struct LayerPlan {
    std::vector<LayerOrder> order;  ///< per layer

    /// Forward and backward SpMM widths of layer l; 0: no SpMM. Layer 0 needs no dH.
    std::int64_t forward_width(const ModelSpec& model, int l) const;
    std::int64_t backward_width(const ModelSpec& model, int l) const;
    /// The widest operand of any SpMM in an epoch: what receive buffers must hold.
    std::int64_t widest_spmm(const ModelSpec& model) const;
    /// The widest operand that a DistributedSpmm meets: an epoch's or, where only set-up multiplies, a panel of X.
    std::int64_t widest_operand(const ModelSpec& model) const;
    /// Columns of the buffer that layers share for the product between SpMM and GEMM.
    std::int64_t shared_columns(const ModelSpec& model) const;
    /// Columns of layer l's output buffer, which in layers after the first also holds dH, of its input's width.
    std::int64_t output_columns(const ModelSpec& model, int l) const;
    /// Whether layer l's T is kept for its weight gradient.
    bool keeps(int l) const { return order[static_cast<std::size_t>(l)] == LayerOrder::aggregate_first_kept; }
};

/// Which rows a rank holds, and over whom gradients and loss are summed: ranks that hold one part each. Where rows
/// are replicated (1.5D), each replica sums over a group of its own.
struct RowLayout {
    Part part = 0;
    std::shared_ptr<Communicator> group;
};

/// The volume of one product of a given width by Â or Âᵀ, one rank.
using SpmmVolume = std::function<Volume(Direction, std::int64_t width)>;

/// One epoch of one rank: the products of the plan, an all-reduce of each layer's gradients and of the loss (one
/// float64, metadata) over the `ranks` of its RowLayout's group, in which it is number `rank`.
Volume row_parallel_volume(const LayerPlan& plan, const ModelSpec& model, const SpmmVolume& product, int ranks,
                           int rank, std::int64_t element_bytes);

/// What the DistributedSpmm of one rank holds to serve operands of up to `widest` columns.
using StateSpmmMemory = std::function<void(MemoryStatement&, std::int64_t widest)>;

/// The bytes that a rank with the rows of `part` holds, as stated_memory means it. In elements, with n its rows:
///   X n·f_0, as much again with input dropout; outputs Σ_l n·max(f_l, f_{l+1}), in layer 0 n·f_1; the shared buffer;
///   T n·f_l of each layer that keeps it; weights, gradients and optimizer state; the product's own.
std::int64_t row_parallel_memory(const LayerPlan& plan, const Problem& problem, Part part,
                                 const StateSpmmMemory& product, std::int64_t element_bytes);

/// One product in which every rank broadcasts its rows once: a root sends its block to P − 1 others and receives
/// the rest. `row_bytes` is width × element size.
Volume block_row_volume(const IndexMap& index, int rank, std::int64_t row_bytes);

/// Z = (Â H) W forward and dW = Hᵀ (Âᵀ G) backward in every layer, whatever the widths: CAGNET and what descends
/// from it. Layer 0 as the cell's aggregate_input says.
LayerPlan aggregate_first_plan(const Strategy& strategy, const Problem& problem);

/// Why a row-parallel strategy cannot serve a setting; empty when it can.
std::string row_parallel_why_unsupported(const Setting& setting);

/// Makes the DistributedSpmm of one rank; `widest` is the widest operand of an epoch.
using MakeSpmm = std::function<std::unique_ptr<DistributedSpmm>(const Adjacency&, std::int64_t widest)>;

/// Buffers, after MG-GCN's section 4.2: one per layer for its output (AHW, in place: Z, H, dZ), one for T, U or V
/// that all layers share (HW), what the DistributedSpmm needs (BC1, BC2), and T of every layer that keeps it. With
/// input dropout, one more for the dropped X.
///
/// The second form is for layouts other than one part per rank.
std::unique_ptr<Trainer> make_row_parallel_trainer(const Problem& problem, Rank rank, LayerPlan plan,
                                                   const MakeSpmm& make_spmm);
std::unique_ptr<Trainer> make_row_parallel_trainer(const Problem& problem, Rank rank, RowLayout layout,
                                                   LayerPlan plan, const MakeSpmm& make_spmm);

}  // namespace gnnbench
