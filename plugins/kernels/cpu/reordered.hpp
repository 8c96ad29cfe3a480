#pragma once
#include <vector>

#include "cluster.hpp"
#include "memory.hpp"
#include "spmm.hpp"

namespace gnnbench::cpu {

/// A square matrix with rows and columns in cluster order: for sparse graphs far beyond the caches, whose tiles
/// would be nearly empty. B is packed in the new order panel by panel; rows that follow each other then share
/// many of the rows of B they need.
struct ReorderedMatrix {
    std::vector<std::int32_t> vertex_at;  ///< length rows: original row, and column, by position
    HostArray<std::int64_t> indptr;       ///< by position, as are
    HostArray<std::int32_t> indices;      ///< the columns, in their original order inside a row
    HostArray<float> values;
    FlatCsr csr;
};

ReorderedMatrix make_reordered(const Csr& a, ClusterOrder order, int threads);
void spmm_reordered(const ReorderedMatrix& a, const DenseSide& d, int threads, Workspace& workspace);

}  // namespace gnnbench::cpu
