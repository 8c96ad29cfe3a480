#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "hypergraph.hpp"

namespace gnnbench::hypergraph {

struct ClusteringLimits {
    Weight cluster_weight;  ///< no cluster of several vertices is heavier
    Id clusters;            ///< stops merging when this few are left
    Id net_size = 64;       ///< larger nets are not looked at
    int rounds = 1;
};

/// Which cluster every vertex is in, named by one of its vertices: length vertices. Vertices of different `side` stay
/// apart (empty: all may merge).
std::vector<Id> cluster(const Hypergraph& h, const ClusteringLimits& limits, std::span<const PartId> side,
                        std::uint64_t seed);

}  // namespace gnnbench::hypergraph
