#pragma once
#include <cstdint>
#include <vector>

#include "level.hpp"

namespace gnnbench::distributed {

struct ClusteringLimits {
    Weight cluster_weight;  ///< no cluster of several vertices is heavier
    std::int64_t clusters;  ///< stops merging when about this few are left
    Id net_size = 64;       ///< larger nets are not looked at
};

/// Clusters of a level's vertices, each named by one of them, its leader.
struct Clusters {
    std::vector<Id> leader_of;   ///< of own vertices: global id
    std::vector<Weight> weight;  ///< of the clusters that own vertices lead; 0 where a vertex leads none
    std::int64_t count = 0;      ///< of all ranks
};

/// The same for any number of ranks. Collective.
Clusters cluster(const Ranks& ranks, const Level& level, const ClusteringLimits& limits, std::uint64_t seed);

}  // namespace gnnbench::distributed
