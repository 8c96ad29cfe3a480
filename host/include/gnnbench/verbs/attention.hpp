#pragma once
#include <cstdint>
#include <vector>

#include <gnnbench/verbs/operands.hpp>
#include <gnnbench/verbs/sparse.hpp>

/// Attention over the entries of a sparse matrix (P. Veličković et al., "Graph Attention Networks", ICLR 2018), and what is
/// computed head by head around it.
///
/// H heads of width d, w = H·d, are interleaved: column k·H + h of a matrix of width w is column k of head h. Row i of A
/// attends to the columns j of its entries a_ij, which are positive. Per head:
///   e_ij = λ(l_i + r_j),  λ(x) = x for x > 0, else slope · x
///   α_ij = a_ij exp(e_ij) / Σ_k a_ik exp(e_ik)
///   Z_i  = Σ_j m_ij α_ij h_j;  0 in a row without entries
/// m_ij is 1 or, under dropout of rate p, 0 or 1 / (1 − p), drawn for each entry and head by the original ids of i and j.
/// With G = dLoss/dZ and D_i = ⟨G_i, Z_i⟩, de_ij = α_ij (m_ij ⟨G_i, h_j⟩ − D_i) λ'(l_i + r_j) is dLoss/d(l_i + r_j), so that
///   dl_i = Σ_j de_ij = ⟨G_i, P_i⟩,  P_i = Σ_j α_ij m_ij λ'_ij h_j − q_i Z_i,  q_i = Σ_j α_ij λ'_ij
///   dr_j = Σ_i de_ij,  dh_j = Σ_i m_ij α_ij G_i
/// P, made in the forward pass, saves the backward one a walk over rows.

namespace gnnbench {

struct AttentionHeads {
    int heads = 1;
    double slope = 0.2;        ///< λ's for negative arguments
    DropoutMask dropout = {};  ///< of coefficients; the matrix was then prepared with its vertices' ids
    bool operator==(const AttentionHeads&) const = default;
};

/// What a forward pass makes of each row, stage by stage: sums over the entries so far, of weights
/// p_ij = a_ij exp(e_ij − maximum). The last stage completes them.
struct AttentionRows {
    MatrixView z;           ///< [m × w]: Σ m p h; at last Z
    MatrixView slopes;      ///< [m × w]: Σ m p λ' h; at last P. Without columns: not wanted, slope_sums neither
    MatrixView maxima;      ///< [m × H]: the largest e; at last log Σ_j a_ij exp(e_ij), 0 in a row without entries
    MatrixView sums;        ///< [m × H]: Σ p
    MatrixView slope_sums;  ///< [m × H]: Σ p λ'
};

/// Where a product stands that is made of several blocks' in turn. The first overwrites, the last completes.
struct Stage {
    bool first = true, last = true;
};

/// Floating-point operations for each entry with w columns and H heads: weighted sums, dot products and, of GATv2, scores. A head's
/// weight costs a comparison, two products and its sums; GATv2's exponential, one for each head, is not among them.
namespace entry_operations {
constexpr double attend(double w, double heads, bool slopes) {
    return slopes ? 4 * w + 6 * heads : 2 * w + 4 * heads;
}
constexpr double attend_backward(double w, double heads) { return 4 * w + 6 * heads; }
constexpr double dynamic_attend(double w) { return 5 * w; }
constexpr double dynamic_backward_rows(double w) { return 7 * w; }
constexpr double dynamic_backward_neighbours(double w) { return 9 * w; }
}  // namespace entry_operations

namespace verb {

struct Attend {
    const PreparedMatrix& a;  ///< [m × n]
    AttentionHeads shape;
    ConstMatrixView b;  ///< [n × (w + H)]: h_j, r_j
    ConstMatrixView l;  ///< [m × H]
    AttentionRows rows;
    Stage stage;

    static constexpr Phase phase = Phase::spmm;
    const char* operation() const { return "attention"; }
    double operations_of_entry() const {
        return entry_operations::attend(static_cast<double>(rows.z.cols), shape.heads, rows.slopes.cols > 0);
    }
    void check() const;
    bool empty() const { return rows.z.empty(); }
    std::vector<Operand> operands() const;
};

struct AttendBackward {
    const PreparedMatrix& a;  ///< [n × m], of Aᵀ
    AttentionHeads shape;
    ConstMatrixView b;    ///< [m × (w + 3H)]: G_i, l_i, log Σ_j a_ij exp(e_ij), D_i
    ConstMatrixView own;  ///< [n × (w + H)]: h_j, r_j
    MatrixView c;         ///< [n × (w + H)]: dh_j, dr_j
    Stage stage;

    static constexpr Phase phase = Phase::spmm;
    const char* operation() const { return "attention-backward"; }
    double operations_of_entry() const {
        return entry_operations::attend_backward(static_cast<double>(own.cols - shape.heads), shape.heads);
    }
    void check() const;
    bool empty() const { return c.empty(); }
    auto operands() const { return std::array{reads(b), reads(own), writes(c)}; }
};

struct HeadDots {
    ConstMatrixView x, y;
    MatrixView out;

    static constexpr Phase phase = Phase::activation;
    const char* operation() const { return "head-dots"; }
    void check() const;
    bool empty() const { return out.empty(); }
    auto operands() const { return std::array{reads(x), reads(y), writes(out)}; }
};

struct HeadSums {
    ConstMatrixView s, x;
    MatrixView out;

    static constexpr Phase phase = Phase::activation;
    const char* operation() const { return "head-sums"; }
    void check() const;
    bool empty() const { return out.empty(); }
    auto operands() const { return std::array{reads(s), reads(x), writes(out)}; }
};

struct AddHeads {
    ConstMatrixView s, a;
    MatrixView y;

    static constexpr Phase phase = Phase::activation;
    const char* operation() const { return "add-heads"; }
    void check() const;
    bool empty() const { return y.empty(); }
    auto operands() const { return std::array{reads(s), reads(a), reads(y), writes(y)}; }
};

struct RescaleHeads {
    ConstMatrixView from, to;
    MatrixView y;

    static constexpr Phase phase = Phase::activation;
    const char* operation() const { return "rescale-heads"; }
    void check() const;
    bool empty() const { return y.empty(); }
    auto operands() const { return std::array{reads(from), reads(to), reads(y), writes(y)}; }
};

struct MeanOfHeads {
    ConstMatrixView x;
    MatrixView out;

    static constexpr Phase phase = Phase::activation;
    const char* operation() const { return "mean-of-heads"; }
    void check() const;
    bool empty() const { return out.empty(); }
    auto operands() const { return std::array{reads(x), writes(out)}; }
};

struct SpreadToHeads {
    ConstMatrixView g;
    MatrixView out;

    static constexpr Phase phase = Phase::activation;
    const char* operation() const { return "spread-to-heads"; }
    void check() const;
    bool empty() const { return out.empty(); }
    auto operands() const { return std::array{reads(g), writes(out)}; }
};

}  // namespace verb

#define GNNBENCH_ATTENTION_VERBS(X) \
    X(Attend) X(AttendBackward) X(HeadDots) X(HeadSums) X(AddHeads) X(RescaleHeads) X(MeanOfHeads) X(SpreadToHeads)

template <class B>
class AttentionVerbs {
    friend B;
    AttentionVerbs() = default;

public:
    /// Adds the entries of `a` to the sums of their rows.
    void attend(const PreparedMatrix& a, AttentionHeads shape, ConstMatrixView b, ConstMatrixView l,
                const AttentionRows& rows, Stage stage) {
        static_cast<B&>(*this).run(verb::Attend{a, shape, b, l, rows, stage});
    }
    /// c ← c + dh_j, dr_j of the entries of `a`, a block of Aᵀ.
    void attend_backward(const PreparedMatrix& a, AttentionHeads shape, ConstMatrixView b, ConstMatrixView own,
                         MatrixView c, Stage stage) {
        static_cast<B&>(*this).run(verb::AttendBackward{a, shape, b, own, c, stage});
    }
    /// out [n × H] ← ⟨x_i, y_i⟩ of each head; x [n × w], y [n × w], or one row for all.
    void head_dots(ConstMatrixView x, ConstMatrixView y, MatrixView out) {
        static_cast<B&>(*this).run(verb::HeadDots{x, y, out});
    }
    /// out [1 × w] ← Σ_i s_i x_i, each head of x_i by its own s_i; s [n × H], x [n × w].
    void head_sums(ConstMatrixView s, ConstMatrixView x, MatrixView out) {
        static_cast<B&>(*this).run(verb::HeadSums{s, x, out});
    }
    /// y_i ← y_i + s_i a, each head of a by its own s_i; s [n × H], a [1 × w], y [n × w].
    void add_heads(ConstMatrixView s, ConstMatrixView a, MatrixView y) {
        static_cast<B&>(*this).run(verb::AddHeads{s, a, y});
    }
    /// y_i ← exp(from_i − to_i) y_i, each head of y_i by its own; 0 where from is −∞. from, to [n × H], y [n × w].
    void rescale_heads(ConstMatrixView from, ConstMatrixView to, MatrixView y) {
        static_cast<B&>(*this).run(verb::RescaleHeads{from, to, y});
    }
    /// out [n × d] ← the mean over the heads of x [n × w].
    void mean_of_heads(ConstMatrixView x, MatrixView out) {
        static_cast<B&>(*this).run(verb::MeanOfHeads{x, out});
    }
    /// Its backward: each head of out [n × w] ← g / H; g [n × d].
    void spread_to_heads(ConstMatrixView g, MatrixView out) {
        static_cast<B&>(*this).run(verb::SpreadToHeads{g, out});
    }
};

}  // namespace gnnbench
