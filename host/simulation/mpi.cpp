#include "simulation/mpi.hpp"

#include <algorithm>
#include <cmath>

namespace gnnbench::simulation {
namespace {

int levels(int count) { return static_cast<int>(std::ceil(std::log2(count))); }

CollectiveCost operator+(const CollectiveCost& a, const CollectiveCost& b) {
    return {.latency_s = a.latency_s + b.latency_s, .transfer_s = a.transfer_s + b.transfer_s};
}

CollectiveCost faster(const CollectiveCost& a, const CollectiveCost& b) {
    return b.latency_s + b.transfer_s < a.latency_s + a.transfer_s ? b : a;
}

/// Ranks that reach each other alike: one of each node, or those of a node.
struct Tier {
    int ranks;
    double hop_s, bandwidth;

    /// So many passes through a tree's levels, each of which sends `bytes` in all.
    CollectiveCost passes(int count, double bytes) const {
        return {.latency_s = count * levels(ranks) * hop_s, .transfer_s = bytes > 0 ? bytes / bandwidth : 0};
    }
    double others() const { return static_cast<double>(ranks - 1) / ranks; }

    /// All have what one had, or one the sum: level by level, or scattered and gathered. So all have the sum: by exchanges at
    /// each level, or of halves of halves and back.
    CollectiveCost from_one(double bytes) const {
        return faster(passes(1, levels(ranks) * bytes), passes(2, 2 * others() * bytes));
    }
    /// All have all parts of `bytes` together, or each its part of the sum.
    CollectiveCost parts(double bytes) const { return passes(1, others() * bytes); }
};

CollectiveCost by_trees(Collective c, double bytes, const Tier& nodes, const Tier& within) {
    switch (c) {
        case Collective::broadcast:
        case Collective::reduce:
            return nodes.from_one(bytes) + within.from_one(bytes);
        case Collective::all_reduce:
            return within.from_one(bytes) + nodes.from_one(bytes) + within.from_one(bytes);
        case Collective::all_gather:
        case Collective::reduce_scatter:
            // A node's parts meet at one rank, and all go out from there, or the reverse.
            return within.parts(bytes / nodes.ranks) + nodes.parts(bytes) + within.from_one(bytes);
        case Collective::barrier:
            return within.passes(2, 0) + nodes.passes(1, 0);
    }
    return {};
}

}  // namespace

CollectiveCost mpi_choice(Collective collective, double total_bytes, const Placement& group, const Links& links,
                          const CollectiveCost& ring) {
    const Tier nodes{group.nodes, links.network_hop_s, std::min(links.nic_bandwidth, group.within)},
        within{group.most_on_a_node, links.hop_s, group.within};
    CollectiveCost trees = by_trees(collective, total_bytes, nodes, within);
    trees.latency_s += links.base_s;
    return faster(ring, trees);
}

}  // namespace gnnbench::simulation
