#include "simulation/network.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <gnnbench/error.hpp>

#include "simulation/mpi.hpp"
#include "simulation/nccl.hpp"
#include "simulation/rings.hpp"

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

double bandwidth_within(const Machine& machine, int ranks_on_node) {
    const Links& l = machine.links;
    require(!l.among.empty(), "a machine says how many links a device has");
    int links = l.among.front().links;
    for (const Links::Among& a : l.among)
        if (a.devices <= ranks_on_node) links = a.links;
    const double carried = links * l.link_bandwidth;
    return l.most_bandwidth > 0 ? std::min(carried, l.most_bandwidth) : carried;
}

double bandwidth_between(const Machine& machine, int device, int other) {
    int links = 0;
    for (const Links::Pair& p : machine.links.pairs)
        if ((p.first == device && p.second == other) || (p.first == other && p.second == device)) links += p.links;
    return links * machine.links.link_bandwidth;
}

namespace {

/// Over a hop of the rings that devices of one node form. Without a ring of links they go through the host.
double rings_bandwidth(const Machine& m, const std::vector<int>& devices) {
    const Links& l = m.links;
    if (l.pairs.empty()) return bandwidth_within(m, static_cast<int>(devices.size()));
    const double carried = rings_among(l.pairs, devices) * l.link_bandwidth;
    const double best = std::max(carried, m.device.host_link_bandwidth);
    return l.most_bandwidth > 0 ? std::min(best, l.most_bandwidth) : best;
}

}  // namespace

Placement placement_of(const Machine& machine, std::span<const int> ranks) {
    std::map<int, std::vector<int>> on_node;
    std::vector<int> sorted(ranks.begin(), ranks.end());
    std::ranges::sort(sorted);
    for (const int r : sorted) on_node[machine.node_of(r)].push_back(machine.place_of(r));
    Placement p{.ranks = static_cast<int>(ranks.size()), .nodes = static_cast<int>(on_node.size())};
    for (std::size_t i = 1; i < sorted.size(); ++i) {
        const int apart = sorted[i] - sorted[i - 1];
        p.distance = i == 1 ? apart : std::min(p.distance, apart);
    }
    std::map<std::vector<int>, double> known;
    p.within = INFINITY;
    for (const auto& [node, devices] : on_node) {
        p.most_on_a_node = std::max(p.most_on_a_node, static_cast<int>(devices.size()));
        if (devices.size() < 2) continue;
        const auto [at, is_new] = known.try_emplace(devices, 0);
        if (is_new) at->second = rings_bandwidth(machine, devices);
        p.within = std::min(p.within, at->second);
    }
    return p;
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

double ring_latency(Collective c, const Placement& g, const Links& l) {
    const int rounds = c == Collective::all_reduce ? 2 : 1;
    const int between = g.nodes > 1 ? g.nodes - 1 : 0, within = g.ranks - 1 - between;
    return l.base_s + rounds * (within * l.hop_s + between * l.network_hop_s);
}

double tree_latency(const Placement& g, const Links& l) {
    const double levels = g.nodes > 1 ? std::ceil(std::log2(g.nodes)) : 0;
    return l.base_s + 2 * ((g.most_on_a_node - 1) * l.hop_s + levels * l.network_hop_s);
}

/// Bytes per second of the network cards that a group's rings leave a node by.
double cards_bandwidth(const Placement& g, const Links& l) {
    return g.nodes > 1 ? std::min(std::min(g.most_on_a_node, l.nics) * l.nic_bandwidth, l.cards()) : INFINITY;
}

/// By the last row of Links::groups that is no wider and no larger than the group. A row of groups inside a node says nothing
/// of a group that lies across two, which has their cards at most.
double measured_bandwidth(const Placement& g, const Links& l) {
    double bandwidth = l.groups.front().bandwidth;
    for (const Links::Group& row : l.groups)
        if (row.distance <= g.distance && row.ranks <= g.ranks) bandwidth = row.bandwidth;
    return std::min(bandwidth, cards_bandwidth(g, l));
}

/// Bytes per second over a hop of all the group's rings together.
double ring_bandwidth(const Placement& g, const Machine& m, NetworkModel model) {
    const Links& l = m.links;
    if (model == NetworkModel::links && !l.groups.empty()) return measured_bandwidth(g, l);
    if (g.nodes == 1) return g.within;
    if (model == NetworkModel::ring) {
        // β_inter of the node, divided among the groups that communicate beside this one.
        const double groups = std::max(1.0, static_cast<double>(m.devices_per_node) / g.most_on_a_node);
        return std::min(g.within, l.cards() / groups);
    }
    return std::min(g.within, cards_bandwidth(g, l));
}

/// Bytes per second of a node's network cards that a group takes. What was measured beside all groups of its kind takes its
/// part of them.
double network_rate(const Placement& g, const Machine& m, double bandwidth) {
    if (m.links.groups.empty()) return bandwidth;
    return std::max(bandwidth, m.links.cards() * g.most_on_a_node / m.devices_per_node);
}

/// Rings, and for small all-reduces trees, of the file's own latencies.
CollectiveCost by_latencies(Collective collective, double total_bytes, const Placement& g, const Links& l,
                            double bandwidth) {
    CollectiveCost cost{.latency_s = ring_latency(collective, g, l),
                        .transfer_s = share_per_hop(collective, g.ranks) * total_bytes / bandwidth};
    if (collective == Collective::barrier) cost.latency_s = tree_latency(g, l);
    if (collective == Collective::all_reduce) {
        const double latency_s = tree_latency(g, l), transfer_s = 2 * total_bytes / bandwidth;
        if (latency_s + transfer_s < cost.latency_s + cost.transfer_s) {
            cost.latency_s = latency_s;
            cost.transfer_s = transfer_s;
        }
    }
    return cost;
}

}  // namespace

ByPlace memory_per_hop_byte(Collective c, int ranks, const Links& l) {
    if (l.nccl_capability > 0) return nccl_memory_per_hop_byte(c, ranks, l.nccl_capability);
    // Received bytes are written, and what is passed on, or reduced with its own, is read.
    if (c == Collective::broadcast) return {.root = 1, .between = 2, .end = 1};
    if (c == Collective::reduce) return {.root = 2, .between = 2, .end = 1};
    return {.root = 2, .between = 2, .end = 2};
}

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
    const double unhindered_s = cost.transfer_s;
    if (m.links.nccl_capability > 0) {
        const NcclTime chosen = nccl_choice(collective, total_bytes, g, m.links, bandwidth);
        cost.latency_s = chosen.latency_s;
        cost.transfer_s = total_bytes / chosen.bandwidth;
    } else {
        cost = by_latencies(collective, total_bytes, g, m.links, bandwidth);
        if (m.links.mpi) cost = mpi_choice(collective, total_bytes, g, m.links, cost);
    }
    // Of what its bytes alone would take of memory and cards, as much less as it is slower.
    const double pace = cost.transfer_s > 0 ? std::min(1., unhindered_s / cost.transfer_s) : 1;
    cost.memory_rate = bandwidth * pace * memory_per_hop_byte(collective, g.ranks, m.links);
    if (g.nodes > 1) cost.network_rate = network_rate(g, m, bandwidth) * pace;
    return cost;
}

}  // namespace gnnbench::simulation
