#include "simulation/network.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <gnnbench/error.hpp>

namespace gnnbench::simulation {

std::string_view to_text(Collective c) {
    switch (c) {
        case Collective::broadcast:
            return "broadcast";
        case Collective::reduce:
            return "reduce";
        case Collective::all_reduce:
            return "all-reduce";
        case Collective::all_gather:
            return "all-gather";
        case Collective::reduce_scatter:
            return "reduce-scatter";
        case Collective::barrier:
            return "barrier";
    }
    return "";
}

std::string measured_key(Collective c, Wait wait) {
    std::string key(to_text(c));
    std::ranges::replace(key, '-', '_');
    return wait == Wait::later ? key + "_later" : key;
}

Placement placement_of(const Machine& machine, std::span<const int> ranks) {
    std::map<int, int> on_node;
    for (const int r : ranks) ++on_node[machine.node_of(r)];
    Placement p{static_cast<int>(ranks.size()), static_cast<int>(on_node.size()), 1};
    for (const auto& [node, count] : on_node) p.most_on_a_node = std::max(p.most_on_a_node, count);
    return p;
}

double bandwidth_within(const Machine& machine, int ranks_on_node) {
    const Links& l = machine.links;
    require(!l.among.empty(), "a machine says how many links a device has");
    int links = l.among.front().links;
    for (const Links::Among& a : l.among)
        if (a.devices <= ranks_on_node) links = a.links;
    const double carried = links * l.link_bandwidth;
    return l.most_bandwidth > 0 ? std::min(carried, l.most_bandwidth) : carried;
}

namespace {

/// Bytes that pass each hop of a ring, of an operation's total.
double share_per_hop(Collective c, int k) {
    const double rest = static_cast<double>(k - 1) / k;
    switch (c) {
        case Collective::all_reduce:
            return 2 * rest;
        case Collective::all_gather:
        case Collective::reduce_scatter:
            return rest;
        case Collective::broadcast:
        case Collective::reduce:
            return 1;
        case Collective::barrier:
            return 0;
    }
    return 1;
}

/// What a rank's memory reads and writes, of what passes a hop: received bytes are written; what is passed on, or
/// reduced with its own, is read.
double memory_per_hop_byte(Collective c) { return c == Collective::broadcast ? 1 : 2; }

double ring_latency(Collective c, const Placement& g, const Links& l) {
    const int rounds = c == Collective::all_reduce ? 2 : 1;
    const int between = g.nodes > 1 ? g.nodes - 1 : 0, within = g.ranks - 1 - between;
    return l.base_s + rounds * (within * l.hop_s + between * l.network_hop_s);
}

double tree_latency(const Placement& g, const Links& l) {
    const double levels = g.nodes > 1 ? std::ceil(std::log2(g.nodes)) : 0;
    return l.base_s + 2 * ((g.most_on_a_node - 1) * l.hop_s + levels * l.network_hop_s);
}

/// Bytes per second over a hop of all the group's rings together.
double ring_bandwidth(const Placement& g, const Machine& m, NetworkModel model) {
    const Links& l = m.links;
    if (g.nodes == 1) return bandwidth_within(m, g.ranks);
    const double within = g.most_on_a_node > 1 ? bandwidth_within(m, g.most_on_a_node) : INFINITY;
    if (model == NetworkModel::ring) {
        // β_inter of the node, divided among the groups that communicate beside this one.
        const double groups = std::max(1.0, static_cast<double>(m.devices_per_node) / g.most_on_a_node);
        return std::min(within, l.nics * l.nic_bandwidth / groups);
    }
    return std::min(within, std::min(g.most_on_a_node, l.nics) * l.nic_bandwidth);
}

}  // namespace

CollectiveCost cost_of(Collective collective, Wait wait, double total_bytes, const Placement& g, const Machine& m,
                       NetworkModel model) {
    CollectiveCost cost;
    if (g.ranks < 2) return cost;
    const auto measured = m.links.measured.find(measured_key(collective, wait));
    if (g.nodes == 1 && model == NetworkModel::links && measured != m.links.measured.end()) {
        cost.transfer_s = std::ceil(std::log2(g.ranks)) * measured->second.seconds(total_bytes);
        return cost;
    }
    const double bandwidth = ring_bandwidth(g, m, model);
    const double bytes = share_per_hop(collective, g.ranks) * total_bytes;
    cost.transfer_s = bytes / bandwidth;
    if (model == NetworkModel::ring) return cost;  // the thesis' formula has neither latency nor further sharing
    cost.latency_s = ring_latency(collective, g, m.links);
    if (collective == Collective::barrier) cost.latency_s = tree_latency(g, m.links);
    if (collective == Collective::all_reduce) {
        const double latency_s = tree_latency(g, m.links), transfer_s = 2 * total_bytes / bandwidth;
        if (latency_s + transfer_s < cost.latency_s + cost.transfer_s) {
            cost.latency_s = latency_s;
            cost.transfer_s = transfer_s;
        }
    }
    cost.memory_rate = memory_per_hop_byte(collective) * bandwidth;
    if (g.nodes > 1) cost.network_rate = bandwidth;
    return cost;
}

}  // namespace gnnbench::simulation
