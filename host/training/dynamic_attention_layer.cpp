// A layer of dynamic attention (S. Brody, U. Alon, E. Yahav, "How Attentive are Graph Attention Networks?", ICLR 2022), after
// the formulas of gnnbench/verbs/dynamic_attention.hpp:
//
//   s = H W_row, t = H W [n × w], one matrix where weights are shared  of the rows of this rank
//   Z_i = Σ_j m_ij α_ij t_j, m_ij by dropout of coefficients           stage by stage; the rows t travel
//   H' = σ(Z's columns, or its heads' mean, + H W_self + b)
//
//   s, t                                                               once more: Z and log Σ exp e alone are kept
//   D = ⟨G, Z⟩                                                         of the rows of this rank
//   v_j, Σ_i m_ij α_ij G_i                                             stage by stage; [G, s, log Σ exp e, D] travel
//   u_i                                                                stage by stage; the rows t travel once more
//   dt = Σ m α G + a ∘ v; ds = a ∘ u; da = Σ_i u_i ∘ s_i + Σ_j v_j ∘ t_j
//   dW_row = Hᵀ ds; dW = Hᵀ dt; dH = ds W_rowᵀ + dt Wᵀ
//
// Where sums are returned, the rank of row i computes u_i and what it contributes to dt_j of the rows t_j that it receives
// once more, and to da, which the all-reduce of gradients completes; the w numbers go back.
//
// A vector of w numbers a row is multiplied, and summed up, as one of w heads of one column each.
#include "attention_base.hpp"

namespace gnnbench {
namespace {

/// By what entries are weighted.
struct Scores {
    Backend& backend;
    AttentionHeads shape;
    ConstMatrixView vector;  ///< a [1 × w]
};

class DynamicForwardSum final : public BlockSum {
public:
    DynamicForwardSum(const Scores& by, MatrixView t, MatrixView s, const AttentionRows& rows)
        : by_(by), t_(t), s_(s), rows_(rows) {}
    MatrixView operand() const override { return t_; }
    void add(const PreparedMatrix& a_pj, ConstMatrixView t_j, Stage stage) override {
        by_.backend.dynamic_attend(a_pj, by_.shape, by_.vector, t_j, s_, rows_, stage);
    }
    void combine(Communicator& replicas, const PreparedMatrix* nothing) override {
        // t is needed no more.
        rescale_to_largest(by_.backend, replicas, rows_, Sections(t_).next(t_.rows, rows_.maxima.cols));
        replicas.all_reduce_now(rows_.z);
        replicas.all_reduce_now(rows_.sums);
        complete(*nothing);
    }
    void merge_copies(SharedRows& shared) override {
        complete_shared(by_.backend, shared, rows_, [&](const PreparedMatrix& nothing) { complete(nothing); });
    }

private:
    void complete(const PreparedMatrix& nothing) {
        by_.backend.dynamic_attend(nothing, by_.shape, by_.vector, t_.rows_from(0, 0), s_, rows_,
                                   {.first = false, .last = true});
    }

    Scores by_;
    MatrixView t_, s_;
    AttentionRows rows_;
};

/// Σ m α G and v; and of da what v ∘ t leaves out where parts have computed with other rows than t.
class NeighbourSum final : public BlockSum {
public:
    NeighbourSum(const Scores& by, MatrixView given, MatrixView t, MatrixView sums, MatrixView v,
                 AddedHeadSums& da)
        : by_(by), given_(given), t_(t), sums_(sums), v_(v), da_(da), rows_(t) {}
    MatrixView operand() const override { return given_; }
    void add(const PreparedMatrix& a_pj, ConstMatrixView given_j, Stage stage) override {
        add_for(a_pj, given_j, t_, stage);
    }
    void add_for(const PreparedMatrix& a_pj, ConstMatrixView given_j, MatrixView t_then, Stage stage) override {
        if (stage.first)
            rows_ = t_then;
        else
            go_on_with(t_then);
        by_.backend.dynamic_backward_neighbours(a_pj, by_.shape, by_.vector, given_j, t_then, v_, sums_, stage);
        if (stage.last) go_on_with(t_);
    }
    void combine(Communicator& replicas, const PreparedMatrix*) override {
        replicas.all_reduce_now(both(sums_, v_));
    }

private:
    /// With Δv of the blocks that had other rows t', Σ Δv ∘ t' = v ∘ t, of all, + Σ v ∘ (t' − t''), of the v so far wherever
    /// rows t'' follow t'.
    void go_on_with(MatrixView t_then) {
        if (t_then.data == rows_.data) return;
        da_.add(v_, rows_);
        da_.subtract(v_, t_then);
        rows_ = t_then;
    }

    Scores by_;
    MatrixView given_, t_, sums_, v_;
    AddedHeadSums& da_;
    MatrixView rows_;  ///< those of the last block
};

/// u.
class RowSum final : public BlockSum {
public:
    RowSum(const Scores& by, MatrixView t, MatrixView given, MatrixView u)
        : by_(by), t_(t), given_(given), u_(u) {}
    MatrixView operand() const override { return t_; }
    bool again() const override { return true; }
    void add(const PreparedMatrix& a_pj, ConstMatrixView t_j, Stage stage) override {
        by_.backend.dynamic_backward_rows(a_pj, by_.shape, by_.vector, t_j, given_, u_, stage);
    }
    void combine(Communicator& replicas, const PreparedMatrix*) override { replicas.all_reduce_now(u_); }

private:
    Scores by_;
    MatrixView t_, given_, u_;
};

/// dt and u, block by block.
class ReturnedDynamicSum final : public ReturnedSum {
public:
    /// All of this rank: [n × (2w + 2H)], [n × w], [n × w], [n × w], [n × 2w].
    struct Operands {
        MatrixView given, t, dt, u, room;
    };
    /// da ← Σ v_j ∘ t_j
    ReturnedDynamicSum(const Scores& by, const Operands& of, AddedHeadSums& da) : by_(by), of_(of), da_(da) {}
    MatrixView again() const override { return of_.t; }
    MatrixView sums() const override { return of_.dt; }
    std::int64_t room_columns() const override { return of_.room.cols; }
    void add_own(const Block& a_pp) override { sum_for(a_pp, of_.t, of_.room, of_.dt); }
    void sum_for(const Block& a_pj, MatrixView received, MatrixView room, MatrixView returned) override {
        const std::int64_t w = of_.t.cols;
        const MatrixView dt = room.cols_from(0, w), v = room.cols_from(w, w);
        by_.backend.dynamic_backward_rows(a_pj.block, by_.shape, by_.vector, received, of_.given, of_.u,
                                          {.first = first_, .last = false});
        first_ = false;
        by_.backend.dynamic_backward_neighbours(a_pj.transposed, by_.shape, by_.vector, of_.given, received, v, dt,
                                                {});
        by_.backend.add_heads(v, by_.vector, dt);
        da_.add(v, received);
        by_.backend.copy(dt, returned);
    }

private:
    Scores by_;
    Operands of_;
    AddedHeadSums& da_;
    bool first_ = true;
};

class DynamicAttention : public AttendingLayer {
public:
    explicit DynamicAttention(const LayerSpec& spec)
        : AttendingLayer(spec), shared_(!spec.has(ParameterRole::row_weight)) {}

    std::int64_t width(Direction d) const override {
        return d == Direction::forward ? columns() : given_columns();
    }
    std::int64_t again() const override { return columns(); }
    std::vector<std::int64_t> combined(Direction d) const override {
        if (d == Direction::backward) return {2 * columns()};
        return {heads(), columns(), heads()};
    }
    std::vector<std::int64_t> combined_again() const override { return {columns()}; }
    std::int64_t merged_columns() const override { return columns() + 2 * heads(); }
    std::int64_t kept_columns() const override { return columns() + heads(); }
    std::int64_t product_columns() const override {
        const std::int64_t t = frees_gradient(columns()) ? 0 : columns();
        return given_columns() + columns() + t + walked_columns() - kept_columns();
    }

    void forward(const ForwardStep& s) const override {
        const std::int64_t n = s.h.rows(), w = columns();
        Sections room = room_of(s);
        const Kept k = kept(room, n);
        const MatrixView sums = room.next(n, heads()), t = room.next(n, w), own = shared_ ? t : room.next(n, w);
        s.h.multiply(s.backend, s.values.weight, t);                      // t = H W
        if (!shared_) s.h.multiply(s.backend, s.values.row_weight, own);  // s = H W_row
        const MatrixView none{nullptr, n, 0, 0, sums.dtype};
        DynamicForwardSum sum(scores(s), t, own, {k.z, none, k.log_sums, sums, none});
        s.aggregate(Direction::forward, sum);  // Z, log Σ exp e
        finish(s, k.z);                        // H' = σ(Z + H W_self + b)
    }

    void backward(const BackwardStep& s) const override {
        const std::int64_t n = s.h.rows(), w = columns();
        Sections of_kept = room_of(s), room = room_of(s);
        const Kept k = kept(of_kept, n);
        // What is kept lies where dt and v do later, and is read before.
        const MatrixView dt = room.next(n, w), walked = room.next(n, walked_columns()),
                         given = room.next(n, given_columns()),
                         t = frees_gradient(w) ? Sections(s.g).next(n, w) : room.next(n, w);
        const MatrixView g = given.cols_from(0, w), own = given.cols_from(w, w);
        bias_gradient(s);
        gradient_of_heads(s, g);
        s.backend.copy(k.log_sums, given.cols_from(2 * w, heads()));
        s.backend.head_dots(g, k.z, given.cols_from(2 * w + heads(), heads()));  // D = ⟨G, Z⟩
        s.h.multiply(s.backend, s.values.weight, t);                             // t = H W
        if (shared_)
            s.backend.copy(t, own);
        else
            s.h.multiply(s.backend, s.values.row_weight, own);        // s = H W_row
        const MatrixView u = sum_up(s, {given, own, t, dt, walked});  // dt but for u where shared; u; da
        const MatrixView ds = Sections(given).next(n, w);             // in place of G, which is needed no more
        if (shared_) {
            s.backend.add_heads(u, s.values.attention_row, dt);  // dt ← dt + a ∘ u
            weight_gradients(s, s.h, dt);
        } else {
            s.backend.fill(ds, 0);
            s.backend.add_heads(u, s.values.attention_row, ds);  // ds = a ∘ u
            weight_gradients(s, s.h, dt, ds);                    // dW = Hᵀ dt, dW_row = Hᵀ ds
        }
        if (!spec().input_gradient) return;
        s.backend.gemm(Transpose::no, dt, Transpose::yes, s.values.weight, s.dh);  // dH = dt Wᵀ + ds W_rowᵀ
        if (!shared_) s.backend.gemm(Transpose::no, ds, Transpose::yes, s.values.row_weight, s.dh, {.beta = 1});
        add_self_input_gradient(s);
    }

protected:
    /// Of the backward pass.
    struct Walked {
        MatrixView given;   ///< [n × (2w + 2H)]: G, s, log Σ exp e, D
        MatrixView own, t;  ///< [n × w]: s, columns of it; t
        MatrixView dt;      ///< [n × w]
        MatrixView room;    ///< [n × walked_columns()], after dt
    };
    /// Columns of the rows [G, s, log Σ exp e, D].
    std::int64_t given_columns() const { return 2 * columns() + 2 * heads(); }
    template <class Step>
    Scores scores(const Step& s) const {
        return {s.backend, dropping(s.entries), s.values.attention_row};
    }
    /// Of the room for v and u.
    virtual std::int64_t walked_columns() const { return columns(); }

    /// dt but for what goes through s, and da. Returns u.
    virtual MatrixView sum_up(const BackwardStep& s, const Walked& m) const {
        AddedHeadSums da(s.backend, s.gradients.attention_row, one_row(s));
        const MatrixView v = m.room, u = m.room;  // one after the other
        NeighbourSum neighbours(scores(s), m.given, m.t, m.dt, v, da);
        s.aggregate(Direction::backward, neighbours);          // dt = Σ m α G, v
        s.backend.add_heads(v, s.values.attention_row, m.dt);  // dt ← dt + a ∘ v
        da.add(v, m.t);
        RowSum rows(scores(s), m.t, m.given, u);
        s.aggregate(Direction::forward, rows);  // u
        da.add(u, m.own);
        da.complete();
        return u;
    }

private:
    /// What the backward pass needs of the forward one.
    struct Kept {
        MatrixView z;         ///< [n × w]
        MatrixView log_sums;  ///< [n × H]
    };
    Kept kept(Sections& room, std::int64_t n) const {
        Kept k;
        k.z = room.next(n, columns());
        k.log_sums = room.next(n, heads());
        return k;
    }

    bool shared_;
};

class ReturnedDynamicAttention final : public DynamicAttention {
public:
    using DynamicAttention::DynamicAttention;
    std::int64_t width(Direction) const override { return columns(); }
    std::int64_t room() const override { return 2 * columns(); }

private:
    std::int64_t walked_columns() const override { return room() + columns(); }
    MatrixView sum_up(const BackwardStep& s, const Walked& m) const override {
        AddedHeadSums da(s.backend, s.gradients.attention_row, one_row(s));
        Sections walked(m.room);
        const MatrixView returned = walked.next(s.h.rows(), room()), u = walked.next(s.h.rows(), columns());
        ReturnedDynamicSum sum(scores(s), {m.given, m.t, m.dt, u, returned}, da);
        s.aggregate(sum);
        da.add(u, m.own);
        da.complete();
        return u;
    }
};

}  // namespace

std::shared_ptr<const Layer> dynamic_attention(const LayerSpec& spec) {
    return std::make_shared<DynamicAttention>(spec);
}
std::shared_ptr<const Layer> returned_dynamic_attention(const LayerSpec& spec) {
    return std::make_shared<ReturnedDynamicAttention>(spec);
}

}  // namespace gnnbench
