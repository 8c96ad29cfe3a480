#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <gnnbench/backend.hpp>
#include <gnnbench/model.hpp>
#include <gnnbench/training/layer.hpp>
#include <gnnbench/training/stated_memory.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

/// Which matrices of a network share memory.
enum class Buffers : std::uint8_t {
    /// A layer's output, dZ and dH are one buffer, and all layers share one for T, U and V. (MG-GCN, section 4.2)
    /// Layers that read G while they write dH share another for dH.
    shared,
    /// Every layer has its own for its output, for the output's gradient, and for T, U and V. (CAGNET) Layers that attend share
    /// what they keep and their products all the same.
    separate,
};

/// Columns of the [n × …] matrices that belong to one layer; 0: none.
struct LayerBuffers {
    std::int64_t output = 0;    ///< H'; where buffers are shared, also dZ and, after the first layer, dH
    std::int64_t gradient = 0;  ///< dZ, and before σ' the next layer's dH; where buffers are separate
    std::int64_t product = 0;   ///< T, U or V; where buffers are separate
    std::int64_t kept = 0;      ///< T, from forward to backward
};

/// A network's layers, each with its order of products, and which buffers they share. Execution, stated volume and
/// stated memory of an epoch follow from it.
struct LayerPlan {
    std::vector<std::shared_ptr<const Layer>> layers;
    Buffers buffers = Buffers::shared;
    /// Layer 0 multiplies by no Â: ÂX is made at set-up.
    bool aggregated_input = false;
    /// X is a sparse operand wherever layer 0 multiplies it by a dense matrix.
    bool sparse_features = false;

    int size() const { return static_cast<int>(layers.size()); }
    const Layer& layer(int l) const { return *layers[usize(l)]; }
    const LayerSpec& spec(int l) const { return layer(l).spec(); }
    bool trains_input() const { return spec(0).input_gradient; }
    /// Whether ÂX is held beside X, which self weights multiply; else it takes X's place.
    bool holds_aggregate() const { return aggregated_input && layer(0).kept_columns() > 0; }
    /// Which forms of X are held: one, or both where layer 0 aggregates X and then multiplies Xᵀ.
    bool holds_sparse_input() const { return sparse_features && layer(0).multiplies_input(); }
    bool holds_dense_input() const { return !sparse_features || layer(0).aggregates_input(); }
    /// Columns of the room in which sums are made before they are returned; 0: none are.
    std::int64_t widest_room() const;
    /// Columns of X that set-up aggregates at a time, in buffers of the epoch; 0 where it does not.
    std::int64_t setup_panel() const;
    /// The widest operand of a DistributedSpmm.
    std::int64_t widest_operand() const;
    /// Columns of the receive buffers of products in these directions: only the widest operand's if
    /// buffers are shared, otherwise one number per layer.
    std::vector<std::int64_t> received_columns(std::span<const Direction> directions) const;
    LayerBuffers layer_buffers(int l) const;
    /// Whether layers attend: they have one buffer for what they keep and for their products, shared buffers or not, a stack.
    /// What layer l keeps follows what the layers before it keep, and its products follow that, in memory that later layers use
    /// between its forward and its backward pass.
    bool stacks() const { return spec(0).attention.has_value(); }
    /// Columns that the layers before l keep.
    std::int64_t kept_before(int l) const;
    /// Columns of the stack; else of the buffer that layers share for the matrices between SpMM and GEMM, 0 where buffers are
    /// separate.
    std::int64_t shared_columns() const;
    /// Columns of the buffer for the dH of layers that read G late; 0 where there are none, or buffers are separate.
    std::int64_t late_gradient_columns() const;
};

/// The order of a layer that aggregates. The others are dense.
using ChooseOrder = std::function<LayerOrder(const LayerSpec&)>;
/// A model's layers, layer 0 without a product by Â where the model aggregates its input at set-up. `attends`: the order of
/// those that attend.
LayerPlan plan_layers(const ModelSpec& model, bool trains_input, const ChooseOrder& order,
                      LayerOrder attends = attention);

/// The fewest SpMM columns of an epoch that give the exact gradient. A layer f → g with a dH aggregates first where
/// it widens (2f columns), else it transforms first (2g). Without a dH, so in layer 0 unless X is trained, it
/// aggregates first (f columns, T = ÂX in every epoch) unless transforming first costs no more (2g ≤ f).
LayerPlan narrowest_plan(const ModelSpec& model, bool trains_input);

/// A DistributedSpmm's receive or send buffers: one for all layers or one for each, as received_columns says.
class LayerwiseBuffers {
public:
    LayerwiseBuffers() = default;
    LayerwiseBuffers(Backend& backend, std::int64_t rows, std::span<const std::int64_t> columns);
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

}  // namespace gnnbench
