#pragma once
#include <cstdint>

#include <gnnbench/backend.hpp>

#include "ahead.hpp"
#include "row_operations.hpp"
#include "workspace.hpp"

namespace gnnbench::cpu {

/// Where a matrix in compressed rows has its nonzeros.
struct Pattern {
    const std::int64_t* indptr = nullptr;   ///< length rows + 1
    const std::int32_t* indices = nullptr;  ///< length indptr[rows]
    std::int64_t rows = 0, cols = 0;
    std::int64_t nonzeros() const { return rows > 0 ? indptr[rows] : 0; }
};

/// A matrix in compressed rows.
template <class T>
struct FlatCsr : Pattern {
    const T* values = nullptr;  ///< length indptr[rows]
};

/// The dense side of C = alpha · A · B + beta · C, then the epilogue.
template <class T>
struct DenseSide {
    ConstMatrixView b;
    MatrixView c;
    T alpha, beta;
    FlatEpilogue<T> epilogue;
};

/// Rows of A in turn, each with its row of C in registers. Threads take runs of about equal work.
template <class T>
void spmm_by_rows(const FlatCsr<T>& a, const DenseSide<T>& d, int threads);

/// How rows are gone through; part of spmm_by_rows.
template <class T>
struct RowsPass {
    T* out = nullptr;  ///< row rows.begin of the result
    std::int64_t ldo = 0;
    Ahead ahead;               ///< in nonzeros. In float64 nothing is prefetched
    bool past_caches = false;  ///< out is written past them: beta 0, rows of whole, aligned cache lines
    /// The row of the result that each row of A makes, out being its row 0; nullptr: consecutive ones.
    const std::int32_t* row_at = nullptr;
};
/// out ← alpha · A · B + beta · out on the rows, one thread.
template <class T>
void multiply_rows(const FlatCsr<T>& a, const DenseSide<T>& d, RowRange rows, const RowsPass<T>& pass);
template <>
void multiply_rows(const FlatCsr<float>& a, const DenseSide<float>& d, RowRange rows, const RowsPass<float>& pass);
template <>
void multiply_rows(const FlatCsr<double>& a, const DenseSide<double>& d, RowRange rows,
                   const RowsPass<double>& pass);

/// Nonzeros to look ahead in B; 0 where it stays in a core's own cache or is read about in order.
Ahead prefetch_distance(const Pattern& a, ConstMatrixView b);
/// Share of the nonzeros whose row and column are less than `distance` apart, in a sample of about `rows` rows.
double share_nearby(const Pattern& a, std::int64_t distance, std::int64_t rows);
/// Run `i` of `runs` of about equal work.
RowRange equal_work(const Pattern& a, std::int64_t i, std::int64_t runs);

}  // namespace gnnbench::cpu
