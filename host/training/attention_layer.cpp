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
//
// Where sums are returned, the rank of row i computes what it contributes to dh_j and dr_j of the rows [h_j, r_j] that it
// receives once more, and to da_r, which the all-reduce of gradients completes; the w numbers dh_j + a_r dr_j go back.
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

/// Two matrices of equal shape, the second where the first ends.
MatrixView both(MatrixView first, MatrixView second) {
    require(static_cast<std::byte*>(first.data) + first.bytes() == second.data && first.cols == second.cols,
            "a sum's matrices lie one after another");
    return {first.data, first.rows + second.rows, first.cols, first.cols, first.dtype};
}

class ForwardSum final : public BlockSum {
public:
    /// `tops` [n × H]: room.
    ForwardSum(Backend& backend, AttentionHeads shape, MatrixView b, MatrixView l, const AttentionRows& rows,
               MatrixView tops)
        : backend_(backend), shape_(shape), b_(b), l_(l), rows_(rows), tops_(tops) {}
    MatrixView operand() const override { return b_; }
    void add(const PreparedMatrix& a_pj, ConstMatrixView b_j, Stage stage) override {
        backend_.attend(a_pj, shape_, b_j, l_, rows_, stage);
    }
    // Of the maximum over all replicas, sums of each can be added.
    void combine(Communicator& replicas, const PreparedMatrix* nothing) override {
        backend_.copy(rows_.maxima, tops_);
        replicas.all_reduce_now(tops_, ReduceOp::maximum);
        for (const MatrixView& sum : {rows_.z, rows_.slopes, rows_.sums, rows_.slope_sums})
            backend_.rescale_heads(rows_.maxima, tops_, sum);
        backend_.copy(tops_, rows_.maxima);
        replicas.all_reduce_now(both(rows_.z, rows_.slopes));
        replicas.all_reduce_now(both(rows_.sums, rows_.slope_sums));
        backend_.attend(*nothing, shape_, b_.rows_from(0, 0), l_, rows_, {.first = false, .last = true});
    }

private:
    Backend& backend_;
    AttentionHeads shape_;
    MatrixView b_, l_;
    AttentionRows rows_;
    MatrixView tops_;
};

class BackwardSum final : public BlockSum {
public:
    BackwardSum(Backend& backend, AttentionHeads shape, MatrixView b, MatrixView own, MatrixView c)
        : backend_(backend), shape_(shape), b_(b), own_(own), c_(c) {}
    MatrixView operand() const override { return b_; }
    void add(const PreparedMatrix& a_pj, ConstMatrixView b_j, Stage stage) override {
        backend_.attend_backward(a_pj, shape_, b_j, own_, c_, stage);
    }
    void combine(Communicator& replicas, const PreparedMatrix*) override { replicas.all_reduce_now(c_); }

private:
    Backend& backend_;
    AttentionHeads shape_;
    MatrixView b_, own_, c_;
};

class Returned final : public ReturnedSum {
public:
    /// What it multiplies and writes, all of this rank.
    struct Operands {
        ConstMatrixView g;       ///< [n × (w + 3H)]: G, l, log Σ exp e, D
        MatrixView again, sums;  ///< [n × (w + H)]: h, r; [n × w]
        MatrixView room;         ///< [n × (w + H)]
        ConstMatrixView a_r;     ///< [1 × w]
        MatrixView da_r, added;  ///< [1 × w]; da_r ← Σ dr_j h_j
    };
    Returned(Backend& backend, AttentionHeads shape, const Operands& of)
        : backend_(backend), shape_(shape), of_(of) {}
    MatrixView again() const override { return of_.again; }
    MatrixView sums() const override { return of_.sums; }
    void add_own(const PreparedMatrix& a_pp) override { sum_for(a_pp, of_.again, of_.room, of_.sums); }
    void sum_for(const PreparedMatrix& a_pj, MatrixView received, MatrixView room, MatrixView returned) override {
        const std::int64_t w = of_.sums.cols;
        const MatrixView dh = room.cols_from(0, w), dr = room.cols_from(w, shape_.heads);
        backend_.attend_backward(a_pj, shape_, of_.g, received, room, {});
        backend_.add_heads(dr, of_.a_r, dh);
        if (received.rows > 0 && of_.added.rows > 0) {
            backend_.head_sums(dr, received.cols_from(0, w), of_.added);
            backend_.axpby(1, of_.added, summed_ ? 1 : 0, of_.da_r);
            summed_ = true;
        }
        backend_.copy(dh, returned);
    }
    /// Where this rank has no rows, nothing has contributed to da_r.
    void complete() {
        if (!summed_) backend_.fill(of_.da_r, 0);
    }

private:
    Backend& backend_;
    AttentionHeads shape_;
    Operands of_;
    bool summed_ = false;
};

class Attention : public Layer {
public:
    explicit Attention(const LayerSpec& spec)
        : Layer(spec), shape_(spec.attention->shape), w_(spec.transformed()), heads_(shape_.heads) {}

    std::int64_t width(Direction d) const override { return d == Direction::forward ? w_ + heads_ : gathered(); }
    std::vector<std::int64_t> combined(Direction d) const override {
        if (d == Direction::backward) return {w_ + heads_};
        return {heads_, 2 * w_, 2 * heads_};
    }
    std::int64_t kept_columns() const override { return 3 * w_ + 3 * heads_; }
    std::int64_t product_columns() const override { return 2 * w_ + 4 * heads_; }

    void forward(const ForwardStep& s) const override {
        const Kept k = sections(s.kept, s.h.rows());
        Sections scratch(s.products);
        const MatrixView sums = scratch.next(s.h.rows(), heads_), slope_sums = scratch.next(s.h.rows(), heads_),
                         tops = scratch.next(s.h.rows(), heads_);
        s.h.multiply(s.backend, s.values.weight, k.h());                  // h = H W
        s.backend.head_dots(k.h(), s.values.attention_row, k.l);          // l = ⟨a_l, h⟩
        s.backend.head_dots(k.h(), s.values.attention_neighbour, k.r());  // r = ⟨a_r, h⟩
        ForwardSum sum(s.backend, dropping(s.entries), k.b, k.l, {k.z, k.slopes, k.log_sums, sums, slope_sums},
                       tops);
        s.aggregate(Direction::forward, sum);  // Z, P, log Σ exp e
        finish(s, k.z);                        // H' = σ(Z + H W_self + b)
    }

    void backward(const BackwardStep& s) const override {
        const std::int64_t n = s.h.rows();
        const Kept k = sections(s.kept, n);
        Sections scratch(s.products);
        const MatrixView b = scratch.next(n, gathered()), c = scratch.next(n, w_ + heads_), g = b.cols_from(0, w_),
                         dl = k.l;
        bias_gradient(s);
        if (spec().attention->mean)
            s.backend.spread_to_heads(s.g, g);
        else
            s.backend.copy(s.g, g);
        s.backend.copy(k.l, b.cols_from(w_, heads_));
        s.backend.copy(k.log_sums, b.cols_from(w_ + heads_, heads_));
        s.backend.head_dots(g, k.z, b.cols_from(w_ + 2 * heads_, heads_));  // D = ⟨G, Z⟩
        s.backend.head_dots(g, k.slopes, dl);                               // dl = ⟨G, P⟩
        const MatrixView dh = of_neighbours(s, k, b, c);                    // dh = Σ α_ij G_i + a_r dr; da_r
        s.backend.add_heads(dl, s.values.attention_row, dh);                // dh ← dh + a_l dl
        s.backend.head_sums(dl, k.h(), s.gradients.attention_row);          // da_l = Σ dl_i h_i
        weight_gradients(s, s.h, dh);                                       // dW = Hᵀ dh
        if (!spec().input_gradient) return;
        s.backend.gemm(Transpose::no, dh, Transpose::yes, s.values.weight, s.dh);  // dH = dh Wᵀ
        add_self_input_gradient(s);
    }

protected:
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
    /// Columns of the rows [G, l, log Σ exp e, D].
    std::int64_t gathered() const { return w_ + 3 * heads_; }
    /// dh but for what goes through l, and da_r. `b`: rows [G, l, log Σ exp e, D]; `c` [n × (w + H)]: room. l, Z and P are
    /// needed no more.
    virtual MatrixView of_neighbours(const BackwardStep& s, const Kept& k, MatrixView b, MatrixView c) const {
        const MatrixView dh = c.cols_from(0, w_), dr = c.cols_from(w_, heads_);
        BackwardSum sum(s.backend, dropping(s.entries), b, k.b, c);
        s.aggregate(Direction::backward, sum);                            // dh_j = Σ α_ij G_i; dr_j = Σ de_ij
        s.backend.add_heads(dr, s.values.attention_neighbour, dh);        // dh ← dh + a_r dr
        s.backend.head_sums(dr, k.h(), s.gradients.attention_neighbour);  // da_r = Σ dr_j h_j
        return dh;
    }

    std::int64_t columns() const { return w_; }
    std::int64_t heads() const { return heads_; }

private:
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

class ReturnedAttention final : public Attention {
public:
    using Attention::Attention;
    std::int64_t width(Direction d) const override {
        return d == Direction::forward ? Attention::width(d) : columns();
    }
    std::int64_t again() const override { return Attention::width(Direction::forward); }

private:
    MatrixView of_neighbours(const BackwardStep& s, const Kept& k, MatrixView b, MatrixView c) const override {
        Returned sum(s.backend, dropping(s.entries),
                     {.g = b,
                      .again = k.b,
                      .sums = k.z,
                      .room = c,
                      .a_r = s.values.attention_neighbour,
                      .da_r = s.gradients.attention_neighbour,
                      .added = k.slopes.rows_from(0, std::min<std::int64_t>(1, k.slopes.rows))});
        s.aggregate(sum);
        sum.complete();
        return k.z;
    }
};

}  // namespace

std::shared_ptr<const Layer> attention(const LayerSpec& spec) { return std::make_shared<Attention>(spec); }
std::shared_ptr<const Layer> returned_attention(const LayerSpec& spec) {
    return std::make_shared<ReturnedAttention>(spec);
}

}  // namespace gnnbench
