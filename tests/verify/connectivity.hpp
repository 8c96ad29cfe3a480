#pragma once
#include <cstdint>
#include <span>

#include <gnnbench/graph.hpp>
#include <gnnbench/partition.hpp>

namespace gnnbench::verify {

/// Σ (λ − 1) over the nets of a partitioned graph: λ is the number of parts with a nonzero in the net, its owner's
/// always among them. Counted here by itself, from nothing but graph and parts. At most 64 parts.
struct Connectivity {
    std::int64_t columns = 0;  ///< a net for each column: rows that travel in a product by A
    std::int64_t rows = 0;     ///< a net for each row: rows that travel in a product by Aᵀ
};
Connectivity count_connectivity(const GraphView& graph, std::span<const Part> part_of);

}  // namespace gnnbench::verify
