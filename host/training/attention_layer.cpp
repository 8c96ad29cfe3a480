// A layer of graph attention (P. Veličković et al., "Graph Attention Networks", ICLR 2018), after the formulas of
// gnnbench/verbs/attention.hpp:
//
//   h = H W [n × w]; l = ⟨a_l, h⟩, r = ⟨a_r, h⟩ [n × H], per head      of the rows of this rank
//   Z_i = Σ_j m_ij α_ij h_j, m_ij by dropout of coefficients          stage by stage; the rows [h, r] travel
//   H' = σ(Z's columns, or its heads' mean, + H W_self + b)
//
//   D = ⟨G, Z⟩, dl = ⟨G, P⟩                                           of the rows of this rank
//   dh_j = Σ_i m_ij α_ij G_i, dr_j = Σ_i de_ij                        stage by stage; [G, l, log Σ exp e, D] travel
//   dh ← dh + a_l dl + a_r dr; da_l = Σ_i dl_i h_i; da_r = Σ_j dr_j h_j; dW = Hᵀ dh; dH = dh Wᵀ
#include <gnnbench/training/layer.hpp>

namespace gnnbench {
namespace {

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

class ForwardSum final : public BlockSum {
public:
    ForwardSum(Backend& backend, AttentionHeads shape, MatrixView b, MatrixView l, const AttentionRows& rows)
        : backend_(backend), shape_(shape), b_(b), l_(l), rows_(rows) {}
    MatrixView operand() const override { return b_; }
    void add(const PreparedMatrix& a_pj, ConstMatrixView b_j, Stage stage) override {
        backend_.attend(a_pj, shape_, b_j, l_, rows_, stage);
    }

private:
    Backend& backend_;
    AttentionHeads shape_;
    MatrixView b_, l_;
    AttentionRows rows_;
};

class BackwardSum final : public BlockSum {
public:
    BackwardSum(Backend& backend, AttentionHeads shape, MatrixView b, MatrixView own, MatrixView c)
        : backend_(backend), shape_(shape), b_(b), own_(own), c_(c) {}
    MatrixView operand() const override { return b_; }
    void add(const PreparedMatrix& a_pj, ConstMatrixView b_j, Stage stage) override {
        backend_.attend_backward(a_pj, shape_, b_j, own_, c_, stage);
    }

private:
    Backend& backend_;
    AttentionHeads shape_;
    MatrixView b_, own_, c_;
};

class Attention final : public Layer {
public:
    explicit Attention(const LayerSpec& spec)
        : Layer(spec), shape_(spec.attention->shape), w_(spec.transformed()), heads_(shape_.heads) {}

    std::int64_t width(Direction d) const override { return w_ + (d == Direction::forward ? 1 : 3) * heads_; }
    std::int64_t kept_columns() const override { return 3 * w_ + 3 * heads_; }
    std::int64_t product_columns() const override { return 2 * w_ + 4 * heads_; }

    void forward(const ForwardStep& s) const override {
        const Kept k = sections(s.kept, s.h.rows());
        Sections scratch(s.products);
        const MatrixView sums = scratch.next(s.h.rows(), heads_), slope_sums = scratch.next(s.h.rows(), heads_);
        s.h.multiply(s.backend, s.values.weight, k.h());                  // h = H W
        s.backend.head_dots(k.h(), s.values.attention_row, k.l);          // l = ⟨a_l, h⟩
        s.backend.head_dots(k.h(), s.values.attention_neighbour, k.r());  // r = ⟨a_r, h⟩
        ForwardSum sum(s.backend, dropping(s.entries), k.b, k.l, {k.z, k.slopes, k.log_sums, sums, slope_sums});
        s.aggregate(Direction::forward, sum);  // Z, P, log Σ exp e
        finish(s, k.z);                        // H' = σ(Z + H W_self + b)
    }

    void backward(const BackwardStep& s) const override {
        const std::int64_t n = s.h.rows();
        const Kept k = sections(s.kept, n);
        Sections scratch(s.products);
        const MatrixView b = scratch.next(n, w_ + 3 * heads_), c = scratch.next(n, w_ + heads_),
                         g = b.cols_from(0, w_), dh = c.cols_from(0, w_), dr = c.cols_from(w_, heads_), dl = k.l;
        bias_gradient(s);
        if (spec().attention->mean)
            s.backend.spread_to_heads(s.g, g);
        else
            s.backend.copy(s.g, g);
        s.backend.copy(k.l, b.cols_from(w_, heads_));
        s.backend.copy(k.log_sums, b.cols_from(w_ + heads_, heads_));
        s.backend.head_dots(g, k.z, b.cols_from(w_ + 2 * heads_, heads_));  // D = ⟨G, Z⟩
        s.backend.head_dots(g, k.slopes, dl);                               // dl = ⟨G, P⟩
        BackwardSum sum(s.backend, dropping(s.entries), b, k.b, c);
        s.aggregate(Direction::backward, sum);                // dh_j = Σ α_ij G_i; dr_j = Σ de_ij
        s.backend.add_heads(dl, s.values.attention_row, dh);  // dh ← dh + a_l dl + a_r dr
        s.backend.add_heads(dr, s.values.attention_neighbour, dh);
        s.backend.head_sums(dr, k.h(), s.gradients.attention_neighbour);  // da_r = Σ dr_j h_j
        s.backend.head_sums(dl, k.h(), s.gradients.attention_row);        // da_l = Σ dl_i h_i
        weight_gradients(s, s.h, dh);                                     // dW = Hᵀ dh
        if (!spec().input_gradient) return;
        s.backend.gemm(Transpose::no, dh, Transpose::yes, s.values.weight, s.dh);  // dH = dh Wᵀ
        add_self_input_gradient(s);
    }

private:
    AttentionHeads dropping(const DropoutMask& entries) const {
        AttentionHeads shape = shape_;
        shape.dropout = entries;
        return shape;
    }

    /// What the backward pass needs of the forward one.
    struct Kept {
        MatrixView b;         ///< [n × (w + H)]: h, r
        MatrixView l;         ///< [n × H]
        MatrixView log_sums;  ///< [n × H]
        MatrixView z;         ///< [n × w]
        MatrixView slopes;    ///< [n × w]: P

        MatrixView h() const { return b.cols_from(0, z.cols); }
        MatrixView r() const { return b.cols_from(z.cols, l.cols); }
    };
    Kept sections(MatrixView kept, std::int64_t n) const {
        Sections all(kept);
        Kept k;
        k.b = all.next(n, w_ + heads_);
        k.l = all.next(n, heads_);
        k.log_sums = all.next(n, heads_);
        k.z = all.next(n, w_);
        k.slopes = all.next(n, w_);
        return k;
    }

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

    AttentionHeads shape_;
    std::int64_t w_, heads_;
};

}  // namespace

std::shared_ptr<const Layer> attention(const LayerSpec& spec) { return std::make_shared<Attention>(spec); }

}  // namespace gnnbench
