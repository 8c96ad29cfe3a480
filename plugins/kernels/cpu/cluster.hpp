#pragma once
#include <cstdint>
#include <vector>

#include <gnnbench/matrix.hpp>

namespace gnnbench::cpu {

/// The vertices of a square matrix in an order that puts those with common neighbours together.
struct ClusterOrder {
    std::vector<std::int32_t> vertex_at;  ///< length rows: vertex by position
    double inside = 0;                    ///< share of the nonzeros whose row and column are in one cluster
};

/// Size-constrained label propagation (as in Meyerhenke, Sanders, Schulz, SEA'14): every vertex starts as a cluster
/// and moves to the one most of its row's entries are in, unless that has `most` vertices. Half of the vertices
/// choose at a time, all from the same state, so that the result does not depend on the number of threads.
ClusterOrder cluster_order(const Csr& a, std::int64_t most, int threads);

}  // namespace gnnbench::cpu
