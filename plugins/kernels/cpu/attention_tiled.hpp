#pragma once
#include <cstdint>

#include "attention.hpp"
#include "panels.hpp"
#include "tiled.hpp"
#include "workspace.hpp"

/// Attention over a tiled matrix, one panel of columns at a time, with no exponential of an entry: with R_h the largest r of a
/// head and m_i a row's reference,
///   exp(λ(l_i + r_j) − m_i) = E¹_i F¹_j  if l_i + r_j > 0, else E²_i F²_j,
///   E¹ = exp(l + R − m), F¹ = exp(r − R), E² = exp(slope (l + R) − m), F² = exp(slope (r − R)).
/// m_i is λ(l_i + R), or λ(l_i + the largest r of the row's neighbours), which is the row's largest score since λ is monotone,
/// where a later stage adds to the row. Where some r lies further than `widest_range` below R, products would lose digits: each
/// entry then has an exponential of its own, and the row's largest score as m.
///
/// Backward α_ij = a_ij exp(λ(l_i + r_j) − log Σ_i) likewise, and dr needs no dot product of each entry:
///   dr_j = Σ_i α_ij λ'_ij (m_ij ⟨G_i, h_j⟩ − D_i) = ⟨Σ_i m_ij α_ij λ'_ij G_i, h_j⟩ − Σ_i α_ij λ'_ij D_i
namespace gnnbench::cpu {

inline constexpr double widest_range = 16;

enum class AttentionSums : std::uint8_t { forward, forward_without_slopes, backward };

/// One panel's part of a pass.
template <class T>
struct TiledPass {
    const TiledMatrix<T>& a;
    EntryMask dropout;
    std::int64_t heads;
    T slope;
    AttentionSums sums;
    bool exact;     ///< an exponential for each entry
    const T* tops;  ///< [H]: R
    Stage stage;
    ConstMatrixView own;      ///< of rows: l; backward h_j, r_j
    AttentionRows rows = {};  ///< forward
    MatrixView c = {};        ///< backward
    // As the pass goes on:
    const T* table = nullptr;     ///< [cols × 4H], by position: r, F¹, F²; backward l, F¹ (exact: log Σ), F², D
    const T* row_tops = nullptr;  ///< [rows × H]: the largest r of the row's neighbours; null: R serves
    const T* packed = nullptr;    ///< [cols × panel.width]
    Panel panel = {};
    bool last_panel = false;
};

/// The verbs, over a matrix that was cut for them; false, and nothing done, where the numbers of heads or the slope does not suit.
template <class T>
bool attend_tiled(const TiledMatrix<T>& a, const EntryMask& dropout, const verb::Attend& v, int threads,
                  Workspace& workspace);
template <class T>
bool attend_backward_tiled(const TiledMatrix<T>& a, const EntryMask& dropout, const verb::AttendBackward& v,
                           int threads, Workspace& workspace);

/// For one instruction set, one thread.
template <class T>
struct TiledAttentionOperations {
    bool (*serves)(std::int64_t heads);
    /// The smallest and the largest of each head of some rows: into [2H].
    void (*extremes)(ConstMatrixView scores, RowRange rows, T* out);
    /// The rows of the table at some positions. b's columns: h, r; or G, l, log Σ, D.
    void (*table)(const TiledPass<T>& pass, ConstMatrixView b, RowRange positions, T* table);
    /// out [rows × H] of a chunk's rows ← the largest r of their neighbours; −∞ without any.
    void (*row_tops)(const TiledPass<T>& pass, std::int64_t chunk, T* out);
    std::int64_t (*room)(const TiledPass<T>& pass);  ///< numbers of each row of a chunk
    void (*chunk)(const TiledPass<T>& pass, std::int64_t chunk, T* room);
};
template <class T>
const TiledAttentionOperations<T>& tiled_attention_operations();
template <>
const TiledAttentionOperations<float>& tiled_attention_operations<float>();
template <>
const TiledAttentionOperations<double>& tiled_attention_operations<double>();

}  // namespace gnnbench::cpu
