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
void spmm_by_rows(const FlatCsr& a, const DenseSide& d, int threads);

/// How rows are gone through; part of spmm_by_rows.
struct RowsPass {
    float* out = nullptr;  ///< row rows.begin of the result
    std::int64_t ldo = 0;
    std::int64_t prefetch_ahead = 0;  ///< nonzeros; 0: not at all
    bool past_caches = false;         ///< out is written past them: beta 0, rows of whole, aligned cache lines
};
/// out ← alpha · A · B + beta · out on the rows, one thread.
void multiply_rows(const FlatCsr& a, const DenseSide& d, RowRange rows, const RowsPass& pass);
/// Nonzeros to look ahead in B; 0 where it stays in a core's own cache or is read about in order.
std::int64_t prefetch_distance(const FlatCsr& a, const DenseSide& d);
/// Share of the nonzeros whose row and column are less than `distance` apart, in a sample of about `rows` rows.
double share_nearby(const FlatCsr& a, std::int64_t distance, std::int64_t rows);
/// Run `i` of `runs` of about equal work.
RowRange equal_work(const FlatCsr& a, std::int64_t i, std::int64_t runs);

}  // namespace gnnbench::cpu
