// A layer of graph attention (P. Veličković et al., "Graph Attention Networks", ICLR 2018), after the formulas of
// gnnbench/verbs/attention.hpp:
//
//   h = H W [n × w]; l = ⟨a_l, h⟩, r = ⟨a_r, h⟩ [n × H], per head      of the rows of this rank
//   Z_i = Σ_j m_ij α_ij h_j, m_ij by dropout of coefficients          stage by stage; the rows [h, r] travel
//   H' = σ(Z's columns, or its heads' mean, + H W_self + b)
//
//   h, r, l                                                           once more: Z, P and log Σ exp e alone are kept
//   D = ⟨G, Z⟩, dl = ⟨G, P⟩                                           of the rows of this rank
//   dh_j = Σ_i m_ij α_ij G_i, dr_j = Σ_i de_ij                        stage by stage; [G, l, log Σ exp e, D] travel
//   dh ← dh + a_l dl + a_r dr; da_l = Σ_i dl_i h_i; da_r = Σ_j dr_j h_j; dW = Hᵀ dh; dH = dh Wᵀ
//
// Where sums are returned, the rank of row i computes what it contributes to dh_j and dr_j of the rows [h_j, r_j] that it
// receives once more, and to da_r, which the all-reduce of gradients completes; the w numbers dh_j + a_r dr_j go back.
#include "attention_base.hpp"

namespace gnnbench {
namespace {

class ForwardSum final : public BlockSum {
public:
    ForwardSum(Backend& backend, AttentionHeads shape, MatrixView b, MatrixView l, const AttentionRows& rows)
        : backend_(backend), shape_(shape), b_(b), l_(l), rows_(rows) {}
    MatrixView operand() const override { return b_; }
    void add(const PreparedMatrix& a_pj, ConstMatrixView b_j, Stage stage) override {
        backend_.attend(a_pj, shape_, b_j, l_, rows_, stage);
    }
    void combine(Communicator& replicas, const PreparedMatrix* nothing) override {
        rescale_to_largest(backend_, replicas, rows_, Sections(b_).next(l_.rows, l_.cols));  // b is needed no more
        replicas.all_reduce_now(both(rows_.z, rows_.slopes));
        replicas.all_reduce_now(both(rows_.sums, rows_.slope_sums));
        complete(*nothing);
    }
    void merge_copies(SharedRows& shared) override {
        complete_shared(backend_, shared, rows_, [&](const PreparedMatrix& nothing) { complete(nothing); });
    }

private:
    void complete(const PreparedMatrix& nothing) {
        backend_.attend(nothing, shape_, b_.rows_from(0, 0), l_, rows_, {.first = false, .last = true});
    }

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
        add_for(a_pj, b_j, own_, stage);
    }
    void add_for(const PreparedMatrix& a_pj, ConstMatrixView b_j, MatrixView own_then, Stage stage) override {
        backend_.attend_backward(a_pj, shape_, b_j, own_then, c_, stage);
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
    };
    /// da_r ← Σ dr_j h_j
    Returned(Backend& backend, AttentionHeads shape, const Operands& of, AddedHeadSums& da_r)
        : backend_(backend), shape_(shape), of_(of), da_r_(da_r) {}
    MatrixView again() const override { return of_.again; }
    MatrixView sums() const override { return of_.sums; }
    std::int64_t room_columns() const override { return of_.room.cols; }
    void add_own(const Block& a_pp) override { sum_for(a_pp, of_.again, of_.room, of_.sums); }
    void sum_for(const Block& a_pj, MatrixView received, MatrixView room, MatrixView returned) override {
        const std::int64_t w = of_.sums.cols;
        const MatrixView dh = room.cols_from(0, w), dr = room.cols_from(w, shape_.heads);
        backend_.attend_backward(a_pj.transposed, shape_, of_.g, received, room, {});
        backend_.add_heads(dr, of_.a_r, dh);
        da_r_.add(dr, received.cols_from(0, w));
        backend_.copy(dh, returned);
    }

private:
    Backend& backend_;
    AttentionHeads shape_;
    Operands of_;
    AddedHeadSums& da_r_;
};

class Attention : public AttendingLayer {
public:
    explicit Attention(const LayerSpec& spec) : AttendingLayer(spec), w_(columns()), heads_(heads()) {}

    std::int64_t width(Direction d) const override { return d == Direction::forward ? w_ + heads_ : gathered(); }
    std::vector<std::int64_t> combined(Direction d) const override {
        if (d == Direction::backward) return {w_ + heads_};
        return {heads_, 2 * w_, 2 * heads_};
    }
    std::int64_t merged_columns() const override { return 2 * w_ + 3 * heads_; }
    std::int64_t kept_columns() const override { return 2 * w_ + heads_; }
    std::int64_t product_columns() const override {
        return w_ + 4 * heads_ + sum_columns() + (frees_gradient(heads_) ? 0 : heads_);
    }

    void forward(const ForwardStep& s) const override {
        const std::int64_t n = s.h.rows();
        Sections room = room_of(s);
        const Kept k = kept(room, n);
        const Rows own = rows(room, n);
        const MatrixView l = room.next(n, heads_), sums = room.next(n, heads_), slope_sums = room.next(n, heads_);
        transform(s, own, l);
        ForwardSum sum(s.backend, dropping(s.entries), own.all, l, {k.z, k.slopes, k.log_sums, sums, slope_sums});
        s.aggregate(Direction::forward, sum);  // Z, P, log Σ exp e
        finish(s, k.z);                        // H' = σ(Z + H W_self + b)
    }

    void backward(const BackwardStep& s) const override {
        const std::int64_t n = s.h.rows();
        Sections of_kept = room_of(s), room = room_of(s);
        const Kept k = kept(of_kept, n);
        // What is kept lies where h, r and c do later, and is read before.
        const Rows own = rows(room, n);
        const MatrixView c = room.next(n, w_ + heads_), b = room.next(n, gathered()),
                         sums = room.next(n, sum_columns()),
                         dl = frees_gradient(heads_) ? Sections(s.g).next(n, heads_) : room.next(n, heads_);
        const MatrixView g = b.cols_from(0, w_);
        bias_gradient(s);
        gradient_of_heads(s, g);
        s.backend.copy(k.log_sums, b.cols_from(w_ + heads_, heads_));
        s.backend.head_dots(g, k.z, b.cols_from(w_ + 2 * heads_, heads_));  // D = ⟨G, Z⟩
        s.backend.head_dots(g, k.slopes, dl);                               // dl = ⟨G, P⟩
        transform(s, own, b.cols_from(w_, heads_));                         // h, r, l
        const MatrixView dh =
            of_neighbours(s, {.own = own, .b = b, .c = c, .sums = sums});  // Σ α_ij G_i + a_r dr; da_r
        s.backend.add_heads(dl, s.values.attention_row, dh);               // dh ← dh + a_l dl
        s.backend.head_sums(dl, own.h, s.gradients.attention_row);         // da_l = Σ dl_i h_i
        weight_gradients(s, s.h, dh);                                      // dW = Hᵀ dh
        if (!spec().input_gradient) return;
        s.backend.gemm(Transpose::no, dh, Transpose::yes, s.values.weight, s.dh);  // dH = dh Wᵀ
        add_self_input_gradient(s);
    }

protected:
    /// The rows of this rank, as they travel.
    struct Rows {
        MatrixView all;   ///< [n × (w + H)]: h, r
        MatrixView h, r;  ///< [n × w], [n × H]: columns of it
    };
    /// Of the backward pass.
    struct Walked {
        Rows own;
        MatrixView b;     ///< [n × (w + 3H)]: G, l, log Σ exp e, D
        MatrixView c;     ///< [n × (w + H)]: room
        MatrixView sums;  ///< [n × sum_columns()]
    };
    /// Columns of the rows [G, l, log Σ exp e, D].
    std::int64_t gathered() const { return w_ + 3 * heads_; }
    /// Of the sums to which what is returned is added.
    virtual std::int64_t sum_columns() const { return 0; }
    /// dh but for what goes through l, and da_r.
    virtual MatrixView of_neighbours(const BackwardStep& s, const Walked& m) const {
        const MatrixView dh = m.c.cols_from(0, w_), dr = m.c.cols_from(w_, heads_);
        BackwardSum sum(s.backend, dropping(s.entries), m.b, m.own.all, m.c);
        s.aggregate(Direction::backward, sum);                              // dh_j = Σ α_ij G_i; dr_j = Σ de_ij
        s.backend.add_heads(dr, s.values.attention_neighbour, dh);          // dh ← dh + a_r dr
        s.backend.head_sums(dr, m.own.h, s.gradients.attention_neighbour);  // da_r = Σ dr_j h_j
        return dh;
    }

private:
    /// What the backward pass needs of the forward one.
    struct Kept {
        MatrixView z;         ///< [n × w]
        MatrixView slopes;    ///< [n × w]: P
        MatrixView log_sums;  ///< [n × H]
    };
    Kept kept(Sections& room, std::int64_t n) const {
        Kept k;
        k.z = room.next(n, w_);
        k.slopes = room.next(n, w_);
        k.log_sums = room.next(n, heads_);
        return k;
    }
    Rows rows(Sections& room, std::int64_t n) const {
        const MatrixView all = room.next(n, w_ + heads_);
        return {all, all.cols_from(0, w_), all.cols_from(w_, heads_)};
    }
    template <class Step>
    static void transform(const Step& s, const Rows& own, MatrixView l) {
        s.h.multiply(s.backend, s.values.weight, own.h);                  // h = H W
        s.backend.head_dots(own.h, s.values.attention_row, l);            // l = ⟨a_l, h⟩
        s.backend.head_dots(own.h, s.values.attention_neighbour, own.r);  // r = ⟨a_r, h⟩
    }

    std::int64_t w_, heads_;
};

class ReturnedAttention final : public Attention {
public:
    using Attention::Attention;
    std::int64_t width(Direction d) const override {
        return d == Direction::forward ? Attention::width(d) : columns();
    }
    std::int64_t again() const override { return Attention::width(Direction::forward); }
    std::int64_t room() const override { return columns() + heads(); }

private:
    std::int64_t sum_columns() const override { return columns(); }
    MatrixView of_neighbours(const BackwardStep& s, const Walked& m) const override {
        AddedHeadSums da_r(s.backend, s.gradients.attention_neighbour, one_row(s));
        Returned sum(
            s.backend, dropping(s.entries),
            {.g = m.b, .again = m.own.all, .sums = m.sums, .room = m.c, .a_r = s.values.attention_neighbour},
            da_r);
        s.aggregate(sum);
        da_r.complete();
        return m.sums;
    }
};

}  // namespace

std::shared_ptr<const Layer> static_attention(const LayerSpec& spec) { return std::make_shared<Attention>(spec); }
std::shared_ptr<const Layer> returned_static_attention(const LayerSpec& spec) {
    return std::make_shared<ReturnedAttention>(spec);
}

std::shared_ptr<const Layer> attention(const LayerSpec& spec) {
    return spec.attention->dynamic ? dynamic_attention(spec) : static_attention(spec);
}
std::shared_ptr<const Layer> returned_attention(const LayerSpec& spec) {
    return spec.attention->dynamic ? returned_dynamic_attention(spec) : returned_static_attention(spec);
}

}  // namespace gnnbench
