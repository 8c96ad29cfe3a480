#include "simulation/nccl.hpp"

#include <algorithm>
#include <cmath>

namespace gnnbench::simulation {
namespace {

constexpr NcclProtocol protocols[] = {NcclProtocol::ll, NcclProtocol::ll128, NcclProtocol::simple};
constexpr double micro = 1e-6, giga = 1e9;

// Microseconds, by algorithm and protocol.
using Latencies = double[2][3];
constexpr Latencies base = {{6.8, 14, 0}, {6.6, 14, 8.4}};
constexpr Latencies over_nvlink = {{0.6, 1.25, 28}, {0.6, 1.9, 3.4}};
constexpr Latencies over_network = {{5, 8.5, 28}, {2.7, 4, 14}};

/// Most of LL, in GB/s: of Volta and of later devices on one node, of hosts by Intel and by AMD on more; by one, two and more
/// nodes.
constexpr double ll_most[2][3] = {{39, 39, 20.4}, {87.7, 22.5, 19}};

/// Of a tree's rate, by protocol, at 64 bytes, 128, … 256 MiB; between them by the logarithm, where NCCL takes steps.
constexpr int corrected_sizes = 23;
constexpr double tree_correction[3][corrected_sizes] = {
    {1, 1, 1, 1, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1, 1},
    {0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5,
     0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9}};

double correction(NcclProtocol p, double bytes) {
    const double size = std::clamp(std::log2(std::max(bytes, 1.) / 64), 0., corrected_sizes - 1.);
    const int below = std::min(static_cast<int>(size), corrected_sizes - 2);
    const double* const at = tree_correction[static_cast<int>(p)];
    return std::lerp(at[below], at[below + 1], size - below);
}

struct Group {
    int ranks, nodes;
    double on_a_node;  ///< ranks, the mean
    bool same_order;   ///< all channels go through the ranks in one order, as where a switch joins all
    const Links& links;
    bool ampere() const { return links.nccl_capability >= 80; }
    /// The host's time for each message to the network.
    double post_us() const { return links.nccl_amd_host ? 2 : 1; }
    double most_of_ll() const {
        const bool second = nodes == 1 ? ampere() : links.nccl_amd_host;
        return giga * ll_most[second ? 1 : 0][nodes < 3 ? nodes - 1 : 2];
    }
};

double latency_us(const Latencies& of, NcclAlgorithm a, NcclProtocol p) {
    return of[static_cast<int>(a)][static_cast<int>(p)];
}

NcclTime ring(Collective c, NcclProtocol p, double total_bytes, const Group& g, double carried) {
    const auto a = NcclAlgorithm::ring;
    const bool from_one = c == Collective::broadcast || c == Collective::reduce;
    const bool sums_all = c == Collective::all_reduce || c == Collective::barrier;
    double rate = carried;
    if (p == NcclProtocol::ll)
        rate = std::min(g.most_of_ll(), carried / (g.nodes > 1 || sums_all || c == Collective::reduce ? 4 : 3));
    if (p == NcclProtocol::ll128) rate = carried * (g.on_a_node < 2 ? 0.7 : 0.92);
    const int steps = sums_all ? 2 * (g.ranks - 1) : from_one ? g.ranks : g.ranks - 1;
    double us = latency_us(base, a, p);
    if (from_one) {
        const Latencies& links = g.nodes > 1 ? over_network : over_nvlink;
        const bool chunks = !g.same_order && p == NcclProtocol::simple;
        const double step = latency_us(links, chunks ? NcclAlgorithm::tree : a, p);
        us += g.same_order ? step : steps * step;
    } else {
        const int between = g.nodes == 1 ? 0 : std::min(steps, sums_all ? 2 * g.nodes : g.nodes - 1);
        const double posts = g.nodes == 1 ? 0 : g.post_us() * (p == NcclProtocol::simple ? 3 : 1);
        us += (steps - between) * std::max(latency_us(over_nvlink, a, p), posts) +
              between * latency_us(over_network, a, p);
    }
    // Waits between nodes, once a ring's chunks are full.
    if (sums_all && p == NcclProtocol::simple && g.nodes > 1 && total_bytes / g.ranks >= 64)
        us *= g.ampere() ? 1.4 : 1.9;
    return {a, p, us * micro, rate * (from_one ? 1. : static_cast<double>(g.ranks) / steps)};
}

/// All-reduces alone.
NcclTime tree(NcclProtocol p, double total_bytes, const Group& g, double carried) {
    const auto a = NcclAlgorithm::tree;
    double rate = 0.92 * carried;
    if (p == NcclProtocol::ll) rate = std::min(rate / 3.8, g.most_of_ll());
    if (p == NcclProtocol::ll128) rate *= g.nodes == 1 ? 7. / 9 : 120. / 128;
    const double levels = std::floor(std::log2(g.nodes));
    const double us = latency_us(base, a, p) + 2 * ((std::floor(g.on_a_node) - 1) * latency_us(over_nvlink, a, p) +
                                                    levels * latency_us(over_network, a, p));
    return {a, p, us * micro, rate / 2 * correction(p, total_bytes)};
}

}  // namespace

NcclTime nccl_choice(Collective collective, double total_bytes, const Placement& placement, const Links& links,
                     double carried) {
    const Group g{placement.ranks, placement.nodes, static_cast<double>(placement.ranks) / placement.nodes,
                  links.pairs.empty(), links};
    const bool sums_all = collective == Collective::all_reduce || collective == Collective::barrier;
    NcclTime best = ring(collective, NcclProtocol::simple, total_bytes, g, carried);
    const auto consider = [&](const NcclTime& t) {
        if (t.seconds(total_bytes) < best.seconds(total_bytes)) best = t;
    };
    for (const NcclProtocol p : protocols) {
        if (p == NcclProtocol::ll128 && g.nodes > 1 && !links.nccl_ll128_between_nodes) continue;
        consider(ring(collective, p, total_bytes, g, carried));
        if (sums_all) consider(tree(p, total_bytes, g, carried));
    }
    return best;
}

ByPlace nccl_memory_per_hop_byte(Collective collective, int ranks, int capability) {
    const bool chunks_with_sender = capability == 80;
    // send: its matrix is read, and what else it does with chunks of its own.
    const double send = chunks_with_sender ? 3 : 1;
    // recv: its matrix is written.
    const double receive = chunks_with_sender ? 1 : 3;
    // recvCopySend, recvReduceSend: one matrix, and either chunks.
    constexpr double pass_on = 3;
    switch (collective) {
        case Collective::broadcast:
            return {.root = send, .between = pass_on, .end = receive};
        case Collective::reduce:  // recvReduceCopy reads the root's own, too
            return {.root = receive + 1, .between = pass_on, .end = send};
        // Of ranks − 1 sends the first has no receive beside it, and the last receive no send; in the middle of an
        // all-reduce's, recvReduceCopySend writes its matrix, too.
        case Collective::all_gather:
        case Collective::all_reduce:
        case Collective::barrier: {
            const double each = pass_on + 1. / (ranks - 1);
            return {.root = each, .between = each, .end = each};
        }
        case Collective::reduce_scatter: {
            const double each = pass_on + 2. / (ranks - 1);
            return {.root = each, .between = each, .end = each};
        }
    }
    return {};
}

}  // namespace gnnbench::simulation
