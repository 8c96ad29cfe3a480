#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>

#include <gnnbench/training/layer.hpp>

/// What the layers that attend have in common.
namespace gnnbench {

/// Matrices one after another in the memory of one.
class Sections {
public:
    explicit Sections(MatrixView whole) : whole_(whole) {}
    MatrixView next(std::int64_t rows, std::int64_t cols) {
        const MatrixView all = whole_.reshaped(1, whole_.rows * whole_.cols);
        const MatrixView section = all.cols_from(used_, rows * cols).reshaped(rows, cols);
        used_ += rows * cols;
        return section;
    }

private:
    MatrixView whole_;
    std::int64_t used_ = 0;
};

/// All that a layer works in: what it keeps, then the room for its products.
template <class Step>
Sections room_of(const Step& s) {
    const MatrixView& kept = s.kept;
    require(static_cast<std::byte*>(kept.data) + kept.bytes() == s.products.data, "products follow what is kept");
    const std::int64_t columns = kept.cols + s.products.cols;
    return Sections({kept.data, kept.rows, columns, columns, kept.dtype});
}

/// Two matrices of as many columns, the second where the first ends.
inline MatrixView both(MatrixView first, MatrixView second) {
    require(static_cast<std::byte*>(first.data) + first.bytes() == second.data && first.cols == second.cols,
            "matrices lie one after another");
    return {first.data, first.rows + second.rows, first.cols, first.cols, first.dtype};
}

/// Room for a row of w numbers until the weights' gradient is computed: its first row. None where this rank has no rows.
inline MatrixView one_row(const BackwardStep& s) {
    return s.gradients.weight.rows_from(0, std::min<std::int64_t>(1, s.h.rows()));
}

/// What each replica has summed up under its own maxima becomes sums under the largest of all, which can be added. `tops`
/// [n × H]: room.
inline void rescale_to_largest(Backend& backend, Communicator& replicas, const AttentionRows& rows,
                               MatrixView tops) {
    backend.copy(rows.maxima, tops);
    replicas.all_reduce_now(tops, ReduceOp::maximum);
    for (const MatrixView& sum : {rows.z, rows.slopes, rows.sums, rows.slope_sums})
        if (sum.cols > 0) backend.rescale_heads(rows.maxima, tops, sum);
    backend.copy(tops, rows.maxima);
}

/// The rows that copies share, complete: at its root a row has the sums of all, and its copies get what they use of it. `complete`
/// makes Z, P and log Σ exp e of sums. P remains at the root alone, so that l has its gradient once.
inline void complete_shared(Backend& backend, SharedRows& shared, const AttentionRows& rows,
                            const std::function<void(const PreparedMatrix& nothing)>& complete) {
    shared.merge(rows);
    complete(shared.nothing());
    shared.copy_from_roots(std::array{rows.z, rows.maxima});
    if (rows.slopes.cols == 0) return;
    const std::int64_t roots = shared.roots();
    backend.fill(rows.slopes.rows_from(roots, rows.slopes.rows - roots), 0);
}

/// A gradient that is made of several sums of heads: ← ± Σ_i s_i x_i, in turn.
class AddedHeadSums {
public:
    /// `room`: as wide as the gradient; without rows where this rank has none, which then contributes nothing.
    AddedHeadSums(Backend& backend, MatrixView gradient, MatrixView room)
        : backend_(backend), gradient_(gradient), room_(room) {}
    void add(ConstMatrixView s, ConstMatrixView x) { add(s, x, 1); }
    void subtract(ConstMatrixView s, ConstMatrixView x) { add(s, x, -1); }
    void complete() {
        if (!begun_) backend_.fill(gradient_, 0);
    }

private:
    void add(ConstMatrixView s, ConstMatrixView x, double sign) {
        if (x.rows == 0 || room_.rows == 0) return;
        backend_.head_sums(s, x, room_);
        backend_.axpby(sign, room_, begun_ ? 1 : 0, gradient_);
        begun_ = true;
    }

    Backend& backend_;
    MatrixView gradient_, room_;
    bool begun_ = false;
};

class AttendingLayer : public Layer {
protected:
    explicit AttendingLayer(const LayerSpec& spec)
        : Layer(spec), shape_(spec.attention->shape), w_(spec.transformed()), heads_(shape_.heads) {}

    CopiedColumns copied(Direction d) const override {
        if (d == Direction::backward) return {spec().g, spec().g};
        return {merged_columns(), w_ + heads_};
    }
    /// Columns of the sums of a row that its copies have, with their maxima.
    virtual std::int64_t merged_columns() const = 0;

    std::int64_t columns() const { return w_; }  ///< w, of heads together
    std::int64_t heads() const { return heads_; }
    AttentionHeads dropping(const DropoutMask& entries) const {
        AttentionHeads shape = shape_;
        shape.dropout = entries;
        return shape;
    }
    /// H' ← σ(z's columns, or its heads' mean, + H W_self + b)
    void finish(const ForwardStep& s, MatrixView z) const {
        const bool mean = spec().attention->mean, self = spec().has(ParameterRole::self_weight);
        if (!mean && !self) return s.backend.dropout(s.epilogue, z, s.z);
        if (mean)
            s.backend.mean_of_heads(z, s.z);
        else
            s.backend.copy(z, s.z);
        if (self)
            add_self(s);
        else
            s.backend.apply(s.epilogue, s.z);
    }
    /// g ← dLoss/dZ
    void gradient_of_heads(const BackwardStep& s, MatrixView g) const {
        const ConstMatrixView summed = s.aggregate.summed_gradients(s.g);
        if (spec().attention->mean)
            s.backend.spread_to_heads(summed, g);
        else
            s.backend.copy(summed, g);
    }
    /// Whether gradient_of_heads leaves so many columns of G's memory to the layer, until dH is written.
    bool frees_gradient(std::int64_t columns) const { return !reads_gradient_late() && spec().g >= columns; }

private:
    AttentionHeads shape_;
    std::int64_t w_, heads_;
};

std::shared_ptr<const Layer> static_attention(const LayerSpec& spec);
std::shared_ptr<const Layer> returned_static_attention(const LayerSpec& spec);
std::shared_ptr<const Layer> dynamic_attention(const LayerSpec& spec);
std::shared_ptr<const Layer> returned_dynamic_attention(const LayerSpec& spec);

}  // namespace gnnbench
