#pragma once
#include <cstdint>

#include <gnnbench/training/grid_trainer.hpp>

namespace gnnbench {

/// dW = HᵀU as CAGNET's released code forms it on a cube, from U cut by columns: U_xy is made whole within the fibre and
/// exchanged with rank (y, x, z), and Hᵀ times U is a split-3D product of dense matrices. README.md has the steps.
class SplitWeightGradient {
public:
    SplitWeightGradient() = default;
    SplitWeightGradient(GridRank rank, const ModelSpec& model);

    /// Collective. h: block of H [n_xz × f_y]; u: this rank's columns of U_xy [n_x × g_yz]; whole_u [n_x × g_y] is
    /// overwritten; dw [f × g], whole on every rank.
    void compute(GridRank rank, GridBroadcasts& broadcasts, MatrixView h, MatrixView u, MatrixView whole_u,
                 MatrixView dw);

    static void state_volume(VolumeStatement& v, const GridLayout& at, std::int64_t f, std::int64_t g);
    static void state_memory(MemoryStatement& m, const GridLayout& at, const ModelSpec& model);

private:
    /// whole_u ← U_xy, from the columns that each rank of the fibre holds.
    void gather_columns(GridRank rank, MatrixView u, MatrixView whole_u);
    /// U_yx [n_y × g_x], from rank (y, x, z) unless that is this rank.
    MatrixView transpose(GridRank rank, MatrixView whole_u, std::int64_t g);

    Matrix exchanged_;  ///< [max n_x·g_y and n_y·g_x]: the fibre's column blocks of U_xy, then U_yx
    Matrix left_;       ///< [max n_kz × widest g_x]: blocks of U that other ranks send
    Matrix block_;      ///< [largest f_y·g_x]: block (y, x) of dW
    Matrix tiles_;      ///< [largest f·g]
};

}  // namespace gnnbench
