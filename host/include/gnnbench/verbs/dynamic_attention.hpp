#pragma once
#include <cstdint>
#include <vector>

#include <gnnbench/verbs/attention.hpp>

/// Attention whose scores are not sums of two numbers (S. Brody, U. Alon, E. Yahav, "How Attentive are Graph Attention
/// Networks?", ICLR 2022, equation 7). With heads, entries, α, m and Z as in gnnbench/verbs/attention.hpp, s_i a row of the
/// matrix that attends, t_j one that is attended to, and a vector a [1 × w], per head:
///   x_ij = s_i + t_j,  e_ij = ⟨a, λ(x_ij)⟩,  Z_i = Σ_j m_ij α_ij t_j
/// With G = dLoss/dZ, D_i = ⟨G_i, Z_i⟩ and de_ij = α_ij (m_ij ⟨G_i, t_j⟩ − D_i), which is dLoss/de_ij, by column:
///   u_i = Σ_j de_ij λ'(x_ij),  ds_i = a ∘ u_i
///   v_j = Σ_i de_ij λ'(x_ij),  dt_j = Σ_i m_ij α_ij G_i + a ∘ v_j
///   da = Σ_i u_i ∘ s_i + Σ_j v_j ∘ t_j, since λ(x) = λ'(x) x
/// G is not known in the forward pass, so that u takes a walk over rows of its own.

namespace gnnbench {

/// Whose sums a walk over entries makes.
enum class AttentionSide : std::uint8_t { rows, neighbours };

namespace verb {

struct DynamicAttend {
    const PreparedMatrix& a;  ///< [m × n]
    AttentionHeads shape;
    ConstMatrixView vector;  ///< [1 × w]: a
    ConstMatrixView b;       ///< [n × w]: t_j
    ConstMatrixView s;       ///< [m × w]
    AttentionRows rows;      ///< without slopes
    Stage stage;

    static constexpr Phase phase = Phase::spmm;
    const char* operation() const { return "dynamic-attention"; }
    double operations_of_entry() const { return entry_operations::dynamic_attend(static_cast<double>(b.cols)); }
    void check() const;
    bool empty() const { return rows.z.empty(); }
    std::vector<Operand> operands() const;
};

/// What the sum of one side needs of the other side's rows, and has of its own.
struct DynamicBackward {
    const PreparedMatrix& a;  ///< [m × n] of A for rows; of Aᵀ for neighbours
    AttentionSide side;
    AttentionHeads shape;
    ConstMatrixView vector;  ///< [1 × w]: a
    ConstMatrixView b;  ///< rows: [n × w], t_j; neighbours: [n × (2w + 2H)], G_i, s_i, log Σ_j a_ij exp(e_ij), D_i
    ConstMatrixView own;  ///< the other of the two [m × …]
    MatrixView slopes;    ///< [m × w]: u or v
    MatrixView sums;      ///< [m × w]: Σ_i m_ij α_ij G_i; without columns for rows
    Stage stage;

    static constexpr Phase phase = Phase::spmm;
    const char* operation() const { return "dynamic-attention-backward"; }
    double operations_of_entry() const {
        const auto w = static_cast<double>(slopes.cols);
        return side == AttentionSide::rows ? entry_operations::dynamic_backward_rows(w)
                                           : entry_operations::dynamic_backward_neighbours(w);
    }
    void check() const;
    bool empty() const { return slopes.empty(); }
    std::vector<Operand> operands() const;
};

}  // namespace verb

#define GNNBENCH_DYNAMIC_ATTENTION_VERBS(X) X(DynamicAttend) X(DynamicBackward)

template <class B>
class DynamicAttentionVerbs {
    friend B;
    DynamicAttentionVerbs() = default;

public:
    /// Adds the entries of `a` to the sums of their rows.
    void dynamic_attend(const PreparedMatrix& a, AttentionHeads shape, ConstMatrixView vector, ConstMatrixView b,
                        ConstMatrixView s, const AttentionRows& rows, Stage stage) {
        static_cast<B&>(*this).run(verb::DynamicAttend{a, shape, vector, b, s, rows, stage});
    }
    /// slopes ← slopes + u_i, of the entries of `a`, a block of A. own: rows [G, s, log Σ, D].
    void dynamic_backward_rows(const PreparedMatrix& a, AttentionHeads shape, ConstMatrixView vector,
                               ConstMatrixView b, ConstMatrixView own, MatrixView slopes, Stage stage) {
        const MatrixView none{nullptr, slopes.rows, 0, 0, slopes.dtype};
        static_cast<B&>(*this).run(
            verb::DynamicBackward{a, AttentionSide::rows, shape, vector, b, own, slopes, none, stage});
    }
    /// slopes ← slopes + v_j, sums ← sums + Σ_i m_ij α_ij G_i, of the entries of `a`, a block of Aᵀ. b: rows [G, s, log Σ, D].
    void dynamic_backward_neighbours(const PreparedMatrix& a, AttentionHeads shape, ConstMatrixView vector,
                                     ConstMatrixView b, ConstMatrixView own, MatrixView slopes, MatrixView sums,
                                     Stage stage) {
        static_cast<B&>(*this).run(
            verb::DynamicBackward{a, AttentionSide::neighbours, shape, vector, b, own, slopes, sums, stage});
    }
};

}  // namespace gnnbench
