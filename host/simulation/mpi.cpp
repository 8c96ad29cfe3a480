#include "simulation/mpi.hpp"

#include <algorithm>
#include <cmath>

namespace gnnbench::simulation {
namespace {

int levels(int count) { return static_cast<int>(std::ceil(std::log2(count))); }

/// What trees of a group are made of.
struct Trees {
    Trees(const Placement& g, const Links& l)
        : nodes(g.nodes), among(levels(g.nodes)), within(levels(g.most_on_a_node)), links(l), node(g.within) {}

    /// `rounds`: how often an operation passes through the levels.
    double latency_s(int rounds_among, int rounds_within) const {
        return links.base_s + rounds_among * among * links.network_hop_s + rounds_within * within * links.hop_s;
    }
    /// Bytes that one rank of each node sends through a network card.
    double card_s(double bytes) const { return nodes > 1 ? bytes / std::min(links.nic_bandwidth, node) : 0; }
    /// All ranks of a node have `bytes` from one of them, or their sum at one: level by level, or scattered and gathered.
    double node_s(double bytes) const { return within > 0 ? std::min(within, 2) * bytes / node : 0; }
    /// The share of other nodes' bytes.
    double others() const { return static_cast<double>(nodes - 1) / nodes; }

    int nodes, among, within;
    const Links& links;
    double node;  ///< bytes per second between ranks of one
};

/// Those of an operation: the faster of two among the nodes.
CollectiveCost by_trees(Collective c, double bytes, const Trees& t) {
    const auto faster = [](const CollectiveCost& a, const CollectiveCost& b) {
        return b.latency_s + b.transfer_s < a.latency_s + a.transfer_s ? b : a;
    };
    const double level_by_level = t.among * bytes, halves = 2 * t.others() * bytes;
    switch (c) {
        case Collective::broadcast:
        case Collective::reduce:
            return faster(
                {.latency_s = t.latency_s(1, 1), .transfer_s = t.card_s(level_by_level) + t.node_s(bytes)},
                {.latency_s = t.latency_s(2, 1), .transfer_s = t.card_s(halves) + t.node_s(bytes)});
        case Collective::all_reduce:
            return faster(
                {.latency_s = t.latency_s(1, 2), .transfer_s = t.card_s(level_by_level) + 2 * t.node_s(bytes)},
                {.latency_s = t.latency_s(2, 2), .transfer_s = t.card_s(halves) + 2 * t.node_s(bytes)});
        case Collective::all_gather:
        case Collective::reduce_scatter:
            return {.latency_s = t.latency_s(1, 2),
                    .transfer_s = t.card_s(t.others() * bytes) + t.node_s(bytes) + t.node_s(bytes / t.nodes)};
        case Collective::barrier:
            return {.latency_s = t.latency_s(1, 2)};
    }
    return {};
}

}  // namespace

CollectiveCost mpi_choice(Collective collective, double total_bytes, const Placement& group, const Links& links,
                          const CollectiveCost& ring) {
    const CollectiveCost trees = by_trees(collective, total_bytes, Trees(group, links));
    return trees.latency_s + trees.transfer_s < ring.latency_s + ring.transfer_s ? trees : ring;
}

}  // namespace gnnbench::simulation
