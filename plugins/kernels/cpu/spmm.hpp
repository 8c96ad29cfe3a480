#pragma once
#include <cstdint>

#include <gnnbench/kernel.hpp>

#include "row_operations.hpp"
#include "workspace.hpp"

namespace gnnbench::cpu {

/// A float32 matrix in compressed rows.
struct FlatCsr {
    const std::int64_t* indptr = nullptr;   ///< length rows + 1
    const std::int32_t* indices = nullptr;  ///< length indptr[rows]
    const float* values = nullptr;          ///< length indptr[rows]
    std::int64_t rows = 0, cols = 0;
    std::int64_t nonzeros() const { return rows > 0 ? indptr[rows] : 0; }
};

/// The dense side of C = alpha · A · B + beta · C, then the epilogue.
struct DenseSide {
    ConstMatrixView b;
    MatrixView c;
    float alpha = 1, beta = 0;
    FlatEpilogue epilogue;
};

/// Rows of A in turn, each with its row of C in registers. Threads take runs of about equal work.
void spmm_by_rows(const FlatCsr& a, const DenseSide& d, int threads, Workspace& workspace);

/// How rows are gone through; part of spmm_by_rows.
struct RowsPass {
    float* out = nullptr;             ///< row rows.begin of the result
    std::int64_t ldo = 0;
    std::int64_t prefetch_ahead = 0;  ///< nonzeros; 0: B is in cache anyway
};
/// out ← alpha · A · B + beta · out on the rows, one thread.
void multiply_rows(const FlatCsr& a, const DenseSide& d, RowRange rows, const RowsPass& pass);
/// Nonzeros to look ahead in B; 0 where it stays in a core's own cache.
std::int64_t prefetch_distance(const DenseSide& d);
/// Run `i` of `runs` of about equal work.
RowRange equal_work(const FlatCsr& a, std::int64_t i, std::int64_t runs);
/// Copies past the caches, for results larger than those; 4-byte aligned.
void stream_out(const float* from, float* to, std::int64_t count);

}  // namespace gnnbench::cpu
