#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gnnbench/training/adjacency.hpp>
#include <gnnbench/training/stated_memory.hpp>
#include <gnnbench/strategy.hpp>
#include <gnnbench/usize.hpp>

/// Shared by every strategy that gives a rank all columns of its own rows: CAGNET 1D and 1.5D, MG-GCN, the
/// sparsity-aware ones, Demirci et al., BNS-GCN, one device. They differ in how they multiply by Â (a
/// DistributedSpmm) and in the order of products inside a layer (a LayerPlan); the rest is common.

namespace gnnbench {

/// Multiplies this rank's rows of Â or Âᵀ by a dense matrix that all ranks hold by rows.
class DistributedSpmm {
public:
    virtual ~DistributedSpmm();
    /// c [n_p × f] ← epilogue(Σ_j Â_pj B_j), or Âᵀ's blocks. b = B_p [n_p × f]. Both contiguous; they do not
    /// overlap. Leaves nothing in flight that touches b or c.
    virtual void multiply(Direction d, MatrixView b, MatrixView c, const Epilogue& epilogue) = 0;
    /// Called before the products of a training epoch, and of a forward pass that only evaluates.
    virtual void begin_epoch(std::int64_t /*epoch*/) {}
    virtual void begin_evaluation() {}
    /// Called before each product of layer l.
    virtual void begin_layer(int /*l*/) {}
    virtual std::string notes() const { return {}; }
};

/// The order of products in a layer H [n × f] → Z [n × g], and of its weight gradient. G = dLoss/dZ. The dH of
/// layer 0 is computed only where its input is trained.
enum class LayerOrder : std::uint8_t {
    /// T = HW; Z = ÂT.   U = ÂᵀG; dW = HᵀU; dH = UWᵀ.          SpMM widths g, g. (Equations 5–11 of MG-GCN)
    transform_first,
    /// T = ÂH; Z = TW.   U = ÂᵀG; dW = HᵀU; dH = UWᵀ.          widths f, g. T is not kept. (CAGNET)
    aggregate_first,
    /// T = ÂH; Z = TW.   dW = TᵀG; V = GWᵀ; dH = ÂᵀV.          widths f, f; without dH f alone. T is kept for dW.
    aggregate_first_kept,
    /// Z = TW with T = ÂX made at set-up.   dW = TᵀG.          no SpMM at all; layer 0 only.
    aggregated_input,
    /// As transform_first, but dW = HᵀG, without dH: width g. MG-GCN's section 4.4; layer 0 only; not the gradient.
    transform_first_shortcut,
};

/// Which matrices of a rank share memory.
enum class Buffers : std::uint8_t {
    /// A layer's output, dZ and dH are one buffer, and all layers share one for T, U and V. (MG-GCN, section 4.2)
    shared,
    /// Every layer has its own for its output, for the output's gradient, and for T, U and V. (CAGNET)
    separate,
};

/// Columns of the [n × …] matrices that belong to one layer; 0: none.
struct LayerBuffers {
    std::int64_t output = 0;    ///< H'; where buffers are shared, also dZ and, after the first layer, dH
    std::int64_t gradient = 0;  ///< dZ, and before σ' the next layer's dH; where buffers are separate
    std::int64_t product = 0;   ///< T, U or V; where buffers are separate
    std::int64_t kept = 0;      ///< T, from forward to backward
};

/// The products of an epoch, used by execution, stated volume and stated memory alike.
struct LayerPlan {
    std::vector<LayerOrder> order;  ///< per layer
    bool trains_input = false;      ///< layer 0 has a dH, too
    Buffers buffers = Buffers::shared;

    /// The SpMM width of layer l in either direction; 0: no SpMM.
    std::int64_t width(Direction d, const ModelSpec& model, int l) const;
    /// Columns of X that set-up aggregates at a time, in buffers of the epoch; 0 where it does not.
    std::int64_t setup_panel(const ModelSpec& model) const;
    /// The widest operand of a DistributedSpmm.
    std::int64_t widest_operand(const ModelSpec& model) const;
    /// Columns of the receive buffers of products in these directions: only the widest operand's if
    /// buffers are shared, otherwise one number per layer.
    std::vector<std::int64_t> received_columns(const ModelSpec& model,
                                               std::span<const Direction> directions) const;
    LayerBuffers layer_buffers(const ModelSpec& model, int l) const;
    /// Columns of the buffer that layers share for the product between SpMM and GEMM; 0 where buffers are separate.
    std::int64_t shared_columns(const ModelSpec& model) const;
    /// Whether layer l's dH is computed.
    bool has_input_gradient(int l) const { return l > 0 || trains_input; }
    /// Whether layer l's T is kept for its weight gradient.
    bool keeps(int l) const { return order[usize(l)] == LayerOrder::aggregate_first_kept; }
};

/// A DistributedSpmm's receive or send buffers: one for all layers or one for each, as received_columns says.
class LayerwiseBuffers {
public:
    LayerwiseBuffers() = default;
    LayerwiseBuffers(Kernel& kernel, std::int64_t rows, std::span<const std::int64_t> columns);
    /// Selects the layer of the following views.
    void begin_layer(int l) { layer_ = of_layer_.size() > 1 ? usize(l) : 0; }
    MatrixView view(std::int64_t rows, std::int64_t columns) const {
        return of_layer_[layer_].view().reshaped(rows, columns);
    }
    static void state_memory(MemoryStatement& m, std::int64_t rows, std::span<const std::int64_t> columns);

private:
    std::vector<Matrix> of_layer_;
    std::size_t layer_ = 0;
};

/// Which rows a rank holds, and over whom gradients and loss are summed: ranks that hold one part each. Where rows
/// are replicated (1.5D), each replica has its own group to sum over.
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

/// The memory of one rank's DistributedSpmm for operands of up to `widest` columns.
using StateSpmmMemory = std::function<void(MemoryStatement&, std::int64_t widest)>;

/// The bytes that a rank with the rows of `part` holds, as stated_memory means it. In elements, with n its rows:
///   X n·f_0, as much again with input dropout; each layer's LayerBuffers; the shared buffer; weights, gradients and
///   optimizer state; the product's own. Outputs are n·max(f_l, f_{l+1}) where shared, in layer 0 n·f_1.
std::int64_t row_parallel_memory(const LayerPlan& plan, const Problem& problem, Part part,
                                 const StateSpmmMemory& product, std::int64_t element_bytes);

/// One product in which every rank broadcasts its rows once: a root sends its block to P − 1 others and receives
/// the rest. `row_bytes` is width × element size.
Volume block_row_volume(const IndexMap& index, int rank, std::int64_t row_bytes);

/// Every layer in the same order, except layer 0 where the model aggregates its input at set-up.
LayerPlan same_order_plan(const Problem& problem, LayerOrder order);

/// Z = (Â H) W forward and dW = Hᵀ (Âᵀ G) backward in every layer, whatever the widths: CAGNET and what descends
/// from it.
inline LayerPlan aggregate_first_plan(const Problem& problem) {
    return same_order_plan(problem, LayerOrder::aggregate_first);
}

/// The fewest SpMM columns of an epoch that give the exact gradient. A layer f → g with a dH aggregates first where
/// it widens (2f columns), else it transforms first (2g). Without a dH, so in layer 0 unless X is trained, it
/// aggregates first (f columns, T = ÂX in every epoch) unless transforming first costs no more (2g ≤ f).
LayerPlan narrowest_plan(const Problem& problem);

/// Why a row-parallel strategy does not support a setting; empty if it does.
std::string row_parallel_why_unsupported(const Setting& setting);

/// Makes the DistributedSpmm of one rank; `widest` is the widest operand of an epoch.
using MakeSpmm = std::function<std::unique_ptr<DistributedSpmm>(const Adjacency&, std::int64_t widest)>;

/// Buffers are the plan's; where shared, after MG-GCN's section 4.2: one per layer for its output (AHW, in place: Z,
/// H, dZ), one for T, U or V that all layers share (HW), what the DistributedSpmm needs (BC1, BC2), and T of every
/// layer that keeps it. With input dropout, one more for the dropped X.
///
/// The second form is for layouts other than one part per rank.
std::unique_ptr<CollectiveTrainer> make_row_parallel_trainer(const Problem& problem, Rank rank, LayerPlan plan,
                                                             const MakeSpmm& make_spmm);
std::unique_ptr<CollectiveTrainer> make_row_parallel_trainer(const Problem& problem, Rank rank, RowLayout layout,
                                                             LayerPlan plan, const MakeSpmm& make_spmm);

}  // namespace gnnbench
