#pragma once
#include <cstdint>
#include <vector>

#include <metis.h>

#include <gnnbench/graph.hpp>

namespace gnnbench {

/// An undirected graph without self-loops in METIS' arrays.
struct MetisGraph {
    std::vector<idx_t> offsets;     ///< length vertices + 1
    std::vector<idx_t> neighbours;  ///< length 2 × undirected edges
};

/// The entries METIS' 32-bit indices can count.
inline constexpr std::int64_t metis_limit = 2147483647;

/// The pattern of A ∪ Aᵀ without its diagonal. Throws Unsupported where that has more than `limit` entries, which one
/// counting pass tells.
MetisGraph symmetrised(const GraphView& graph, std::int64_t limit = metis_limit);

}  // namespace gnnbench
