#pragma once
#include <cstdint>

#include "memory.hpp"
#include "spmm.hpp"

namespace gnnbench::cpu {

/// A matrix most of whose rows are empty, doubly compressed: only rows in use are stored (A. Buluç and J. R. Gilbert,
/// "On the Representation and Multiplication of Hypersparse Matrices", IPDPS 2008). Of a graph in many parts the block
/// between two of them is one.
template <class T>
struct UsedRowsMatrix {
    std::int64_t rows = 0;            ///< empty ones included
    HostArray<std::int32_t> row_at;   ///< length csr.rows: rows in use, ascending
    HostArray<std::int64_t> indptr;   ///< length csr.rows + 1
    HostArray<std::int32_t> indices;  ///< length nonzeros
    HostArray<T> values;              ///< length nonzeros
    FlatCsr<T> csr;                   ///< of the rows in use
};

/// Whether at most half of its rows are in use.
bool rows_mostly_empty(const Csr& a);

template <class T>
UsedRowsMatrix<T> make_used_rows(const Csr& a, int threads);

/// C = alpha · A · B + beta · C, then the epilogue. With beta 1 and no epilogue rows that A does not use are not
/// touched: an accumulating product moves the rows of B that it needs, and twice those of C that it changes.
template <class T>
void spmm_used_rows(const UsedRowsMatrix<T>& a, const DenseSide<T>& d, int threads);

}  // namespace gnnbench::cpu
