#pragma once
#include <vector>

#include "cluster.hpp"
#include "memory.hpp"
#include "panels.hpp"
#include "spmm.hpp"

namespace gnnbench::cpu {

/// A square matrix with rows and columns in cluster order: for sparse graphs far beyond the caches, whose tiles
/// would be nearly empty. B is packed in the new order panel by panel; rows that follow each other then share
/// many of the rows of B they need.
template <class T>
struct ReorderedMatrix {
    std::vector<std::int32_t> vertex_at;  ///< length rows: original row, and column, by position
    HostArray<std::int64_t> indptr;       ///< by position, as are
    HostArray<std::int32_t> indices;      ///< the columns, in their original order inside a row
    HostArray<T> values;
    FlatCsr<T> csr;
};

template <class T>
ReorderedMatrix<T> make_reordered(const Csr& a, ClusterOrder order, int threads);
/// C's columns of the panel from B's, packed in the order of A's columns. `row_at`, if not null: the row of C that each
/// row of A makes.
template <class T>
void multiply_packed(const FlatCsr<T>& a, const std::int32_t* row_at, const T* packed, const DenseSide<T>& d,
                     const Panel& panel, int threads, Workspace& workspace);
template <class T>
void spmm_reordered(const ReorderedMatrix<T>& a, const DenseSide<T>& d, int threads, Workspace& workspace);

}  // namespace gnnbench::cpu
