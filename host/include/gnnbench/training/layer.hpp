#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <gnnbench/backend.hpp>
#include <gnnbench/model.hpp>
#include <gnnbench/training/distributed_spmm.hpp>

/// Layers: linear maps H [n × f] → Z [n × g] with an epilogue, most of them after an aggregation. A layer of the
/// model is one of them (GCN, GraphSAGE) or two (GIN: one that aggregates, then a dense one). G = dLoss/dZ
/// throughout.
///
/// Attention's product by Â is no SpMM, but adds up block after block as one does (BlockSum).

namespace gnnbench {

/// One trained matrix of a model.
struct ParameterSpec {
    std::string name;  ///< "W0", "b0"; "W0_self", "W0_neighbour"; "W0_first", "b0_first", "W0_second", "b0_second"
    int layer = 0;     ///< of the model
    ParameterRole role = ParameterRole::weight;
    std::int64_t rows = 0, cols = 0;
    std::uint32_t draw = 0;  ///< which random numbers initialise it
    int heads = 0;           ///< of an attention vector, whose heads are drawn as d × 1 each
};

/// How a layer attends, and what it makes of its heads.
struct AttentionSpec {
    AttentionHeads shape;
    bool mean = false;     ///< Z is the heads' mean; else their columns
    double dropout = 0;    ///< of coefficients, in training
    bool dynamic = false;  ///< GATv2's scores
};

/// All trained matrices in the order of use: layer by layer, in each of its linear maps the weights, then the bias.
std::vector<ParameterSpec> parameters_of(const ModelSpec& model);

/// One layer without the order of its products: what it computes.
///   Z = Â H W + H W_self + b;  Â is the identity where the layer does not aggregate.
/// One that attends: Z of HW by gnnbench/verbs/attention.hpp, its heads' columns or mean, + H W_self + b.
struct LayerSpec {
    int model_layer = 0;  ///< keys weight decay and dropout
    std::int64_t f = 0, g = 0;
    bool aggregates = true;
    Activation activation = Activation::identity;
    /// The layer of the model whose input this layer's output is, and whose dropout it gets; past the last: none.
    int feeds = 0;
    bool input_gradient = true;  ///< dH is computed; layer 0's only where its input is trained
    std::optional<AttentionSpec> attention;
    std::vector<ParameterSpec> parameters;  ///< its own: self weight, weight, bias, as far as it has them

    /// Columns of HW.
    std::int64_t transformed() const { return attention && attention->mean ? attention->shape.heads * g : g; }
    bool has(ParameterRole role) const;
    /// Elements of all its parameters.
    std::int64_t elements() const;
};

/// A model's layers from the first to the last.
std::vector<LayerSpec> layers_of(const ModelSpec& model, bool trains_input);

/// A layer's trained matrices on the device, or their gradients; empty views where it has none.
struct LayerParameters {
    MatrixView weight, self_weight, bias, attention_row, attention_neighbour, row_weight;
};

/// A layer's products by Â, each checked against the width that the layer states.
class Layer;
class LayerAggregation {
public:
    LayerAggregation(DistributedSpmm& spmm, const Layer& layer, int number)
        : spmm_(spmm), layer_(layer), number_(number) {}
    /// c ← epilogue(Âb) or Âᵀb.
    void operator()(Direction d, MatrixView b, MatrixView c, const Epilogue& e = {}) const;
    /// Another sum over Â's blocks, or Âᵀ's.
    void operator()(Direction d, BlockSum& sum) const;
    void operator()(ReturnedSum& sum) const;
    /// DistributedSpmm::summed_gradients.
    ConstMatrixView summed_gradients(ConstMatrixView g) const;

private:
    DistributedSpmm& spmm_;
    const Layer& layer_;
    int number_;
};

/// A layer's input H [n × f]. Of layer 0 it is X, which a plan with sparse features holds as a sparse matrix, and as a
/// dense one only where its rows are multiplied by Â.
struct LayerInput {
    MatrixView dense = {};                   ///< without data where nothing reads it
    const PreparedMatrix* sparse = nullptr;  ///< prepared for products by its transpose, too; nullptr: dense alone

    // NOLINTNEXTLINE(google-explicit-constructor): a dense matrix is an input
    LayerInput(MatrixView h, const PreparedMatrix* x = nullptr) : dense(h), sparse(x) {}
    LayerInput() = default;
    std::int64_t rows() const { return dense.rows; }
    std::int64_t columns() const { return dense.cols; }
    /// c ← epilogue(H b + beta · c)
    void multiply(Backend& backend, ConstMatrixView b, MatrixView c, Scale s = {}, const Epilogue& e = {}) const;
    /// c ← Hᵀ b
    void multiply_transposed(Backend& backend, ConstMatrixView b, MatrixView c) const;
};

/// The matrices that a forward pass works on, all [n × …] on the device.
struct ForwardStep {
    Backend& backend;
    const LayerAggregation& aggregate;
    LayerParameters values;
    LayerInput h;         ///< [n × f]
    MatrixView z;         ///< ← [n × g]
    MatrixView products;  ///< room for T, where it is not kept; where layers attend, it follows `kept` in memory
    MatrixView kept;      ///< T, from forward to backward
    Epilogue epilogue;    ///< of Z: bias, activation, dropout
    DropoutMask entries;  ///< of attention's coefficients

    MatrixView product(std::int64_t columns) const { return products.reshaped(h.rows(), columns); }
};

/// And those of a backward pass.
struct BackwardStep {
    Backend& backend;
    const LayerAggregation& aggregate;
    LayerParameters values, gradients;
    LayerInput h;         ///< as in forward
    MatrixView g;         ///< G [n × g]
    MatrixView dh;        ///< ← [n × f]; may share G's memory unless the layer reads G late
    MatrixView products;  ///< room for U or V
    MatrixView kept;
    DropoutMask entries;  ///< as in forward
    /// Called once all gradients of the layer's parameters are complete, before dH is computed.
    std::function<void()> gradients_ready;

    MatrixView product(std::int64_t columns) const { return products.reshaped(h.rows(), columns); }
};

/// Columns of a row that a copy sends to its root, and of what comes back (SharedRows).
struct CopiedColumns {
    std::int64_t to_roots = 0, to_copies = 0;
};

/// A layer with an order of products. Execution, stated volume and stated memory of the layer all come from here; it
/// holds no memory of its own.
class Layer {
public:
    explicit Layer(LayerSpec spec) : spec_(std::move(spec)) {}
    virtual ~Layer();
    const LayerSpec& spec() const { return spec_; }

    /// Columns of its product by Â, or by Âᵀ; 0: it makes none.
    virtual std::int64_t width(Direction d) const = 0;
    /// Columns of each matrix [n × …] that replicas of a rank's rows add up in turn, or take the maxima of, to complete a product
    /// of which each has a part.
    virtual std::vector<std::int64_t> combined(Direction d) const { return {width(d)}; }
    /// What travels between the copies of a row to complete a product to which each has added its own entries.
    virtual CopiedColumns copied(Direction d) const { return {width(d), width(d)}; }
    /// Columns of the forward pass' rows that others receive once more, backward; 0: none.
    virtual std::int64_t again() const { return 0; }
    virtual std::vector<std::int64_t> combined_again() const { return {}; }
    /// Columns of the room in which sums are made before they are returned; 0: none are.
    virtual std::int64_t room() const { return 0; }
    /// H itself is multiplied by Â, so that rows of it may travel.
    virtual bool aggregates_input() const { return false; }
    /// H itself is multiplied by a dense matrix: HW, or HᵀG.
    virtual bool multiplies_input() const { return true; }
    /// Columns of T where it is kept for the weight gradient.
    virtual std::int64_t kept_columns() const { return 0; }
    /// G is still needed when dH is written, so that they cannot share memory.
    virtual bool reads_gradient_late() const { return spec_.has(ParameterRole::self_weight); }
    /// Columns of the matrices between its products: T unless it is kept, U, V.
    virtual std::int64_t product_columns() const;

    virtual void forward(const ForwardStep& s) const = 0;
    virtual void backward(const BackwardStep& s) const = 0;

protected:
    /// Z ← epilogue(Z + H W_self), Z complete but for that, where the layer has self weights; else Z has its epilogue.
    void add_self(const ForwardStep& s) const;
    /// The epilogue of the product that is the last one unless self weights follow.
    Epilogue epilogue_without_self(const ForwardStep& s) const;
    void bias_gradient(const BackwardStep& s) const;
    /// dW = leftᵀ right, dW_row = Hᵀ of_row, dW_self = Hᵀ G; then gradients_ready.
    void weight_gradients(const BackwardStep& s, const LayerInput& left, ConstMatrixView right,
                          ConstMatrixView of_row = {}) const;
    /// dH ← dH + G W_selfᵀ.
    void add_self_input_gradient(const BackwardStep& s) const;

private:
    LayerSpec spec_;
};

/// Makes a layer in one order of products.
using LayerOrder = std::shared_ptr<const Layer> (*)(const LayerSpec&);

/// T = HW; Z = ÂT.   U = ÂᵀG; dW = HᵀU; dH = UWᵀ.          SpMM widths g, g. (Equations 5–11 of MG-GCN)
std::shared_ptr<const Layer> transform_first(const LayerSpec& spec);
/// T = ÂH; Z = TW.   U = ÂᵀG; dW = HᵀU; dH = UWᵀ.          widths f, g. T is not kept. (CAGNET)
std::shared_ptr<const Layer> aggregate_first(const LayerSpec& spec);
/// T = ÂH; Z = TW.   dW = TᵀG; V = GWᵀ; dH = ÂᵀV.          widths f, f; without dH f alone. T is kept for dW.
std::shared_ptr<const Layer> aggregate_first_kept(const LayerSpec& spec);
/// As transform_first, but dW = HᵀG, without dH: width g. MG-GCN's section 4.4; layer 0 only; not the gradient.
std::shared_ptr<const Layer> transform_first_shortcut(const LayerSpec& spec);
/// Z = HW.           dW = HᵀG; dH = GWᵀ.                   no SpMM: H is already aggregated, or the layer is dense.
std::shared_ptr<const Layer> dense(const LayerSpec& spec);
/// Z = TW.           dW = TᵀG.                             no SpMM: T = ÂX is kept from set-up, beside X for the self
/// weights; layer 0 only, its input not trained. (BNS-GCN's and PipeGCN's `--use-pp`: one product of [X, ÂX])
std::shared_ptr<const Layer> aggregated_at_setup(const LayerSpec& spec);
/// Of a layer that attends (attention_layer.cpp, dynamic_attention_layer.cpp), backward on the ranks of the sums' rows. Widths
/// w + H, w + 3H; GATv2's w, 2w + 2H, and w again.
std::shared_ptr<const Layer> attention(const LayerSpec& spec);
/// The same, where ranks return sums for the rows that they received. Widths w + H, w, and w + H again; GATv2's w, w, w.
std::shared_ptr<const Layer> returned_attention(const LayerSpec& spec);

}  // namespace gnnbench
