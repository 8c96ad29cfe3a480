// Contraction as in every multilevel hypergraph partitioner (Karypis et al., "Multilevel Hypergraph Partitioning:
// Applications in VLSI Domain", DAC 1997), with identical nets found by fingerprints (Deveci et al., "Hypergraph
// Sparsification and Its Application to Partitioning", ICPP 2013).
#include "contraction.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include <omp.h>

#include "random.hpp"

namespace gnnbench::hypergraph {
namespace {

/// Coarse ids in the order of the clusters' names.
std::vector<Id> number_clusters(std::span<const Id> cluster_of, Id& clusters) {
    std::vector<Id> number(cluster_of.size());
    for (const Id c : cluster_of) number[c] = 1;
    clusters = 0;
    for (Id& slot : number)
        if (slot) slot = clusters++;
    std::vector<Id> coarse_of(cluster_of.size());
    for (std::size_t v = 0; v < coarse_of.size(); ++v) coarse_of[v] = number[cluster_of[v]];
    return coarse_of;
}

/// Every net with its pins mapped, ascending, each once; in the place where the fine net's pins lie.
struct MappedNets {
    std::vector<Id> pins;                    ///< length fine pins, the first size[e] of each net used
    std::vector<Id> size;                    ///< length fine nets
    std::vector<std::uint64_t> fingerprint;  ///< length fine nets; equal for nets with the same pins
};

MappedNets map_nets(const Hypergraph& fine, std::span<const Id> coarse_of, Id clusters) {
    MappedNets mapped{std::vector<Id>(fine.pins.size()), std::vector<Id>(fine.net_count()),
                      std::vector<std::uint64_t>(fine.net_count())};
    const auto nets = static_cast<std::int64_t>(fine.net_count());
#pragma omp parallel
    {
        std::vector<Id> last_net(clusters, fine.net_count());
#pragma omp for schedule(dynamic, 512)
        for (std::int64_t e = 0; e < nets; ++e) {
            const Id net = static_cast<Id>(e);
            Id* const begin = mapped.pins.data() + fine.net_offsets[net];
            Id* end = begin;
            std::uint64_t print = 0;
            for (const Id pin : fine.pins_of(net)) {
                const Id c = coarse_of[pin];
                if (last_net[c] == net) continue;
                last_net[c] = net;
                print += mixed(c);
                *end++ = c;
            }
            mapped.size[net] = static_cast<Id>(end - begin);
            mapped.fingerprint[net] = mixed(print);
            if (end - begin > 1) std::sort(begin, end);
        }
    }
    return mapped;
}

/// For every fine net the first one with the same pins; itself where it is the first, `none` where it has one pin.
constexpr Id none = ~Id{0};
std::vector<Id> find_identical(const Hypergraph& fine, const MappedNets& mapped) {
    const Id nets = fine.net_count();
    const std::size_t slots = std::bit_ceil(std::size_t{nets} * 2 + 1), mask = slots - 1;
    std::vector<Id> table(slots, none), same_as(nets, none);
    for (Id net = 0; net < nets; ++net) {
        if (mapped.size[net] < 2) continue;
        const Id* const pins = mapped.pins.data() + fine.net_offsets[net];
        for (std::size_t slot = mapped.fingerprint[net] & mask;; slot = (slot + 1) & mask) {
            const Id other = table[slot];
            if (other == none) {
                table[slot] = same_as[net] = net;
                break;
            }
            if (mapped.fingerprint[other] == mapped.fingerprint[net] && mapped.size[other] == mapped.size[net] &&
                std::equal(pins, pins + mapped.size[net], mapped.pins.data() + fine.net_offsets[other])) {
                same_as[net] = other;
                break;
            }
        }
    }
    return same_as;
}

}  // namespace

namespace {

/// All but the vertices' index.
Hypergraph contract_nets(const Hypergraph& fine, std::span<const Id> coarse_of, Id clusters) {
    Hypergraph coarse;
    coarse.vertex_weight.assign(clusters, 0);
    for (Id v = 0; v < fine.vertex_count(); ++v) coarse.vertex_weight[coarse_of[v]] += fine.vertex_weight[v];
    coarse.total_weight = fine.total_weight;

    const MappedNets mapped = map_nets(fine, coarse_of, clusters);
    const std::vector<Id> same_as = find_identical(fine, mapped);
    std::vector<Id> coarse_net(fine.net_count());
    std::size_t nets = 0, pins = 0;
    for (Id net = 0; net < fine.net_count(); ++net)
        if (same_as[net] == net) ++nets, pins += mapped.size[net];
    coarse.net_offsets.reserve(nets + 1);
    coarse.net_weight.reserve(nets);
    coarse.pins.reserve(pins);
    coarse.net_offsets.push_back(0);
    for (Id net = 0; net < fine.net_count(); ++net) {
        if (same_as[net] == none) continue;
        if (same_as[net] != net) {
            coarse.net_weight[coarse_net[same_as[net]]] += fine.net_weight[net];
            continue;
        }
        coarse_net[net] = coarse.net_count();
        coarse.net_weight.push_back(fine.net_weight[net]);
        const Id* const first = mapped.pins.data() + fine.net_offsets[net];
        coarse.pins.insert(coarse.pins.end(), first, first + mapped.size[net]);
        coarse.net_offsets.push_back(coarse.pin_count());
    }
    return coarse;
}

}  // namespace

Hypergraph contracted(const Hypergraph& fine, std::span<const Id> coarse_of, Id clusters) {
    Hypergraph coarse = contract_nets(fine, coarse_of, clusters);
    index_vertices(coarse);
    return coarse;
}

Contraction contract(const Hypergraph& fine, std::span<const Id> cluster_of) {
    Id clusters = 0;
    std::vector<Id> coarse_of = number_clusters(cluster_of, clusters);
    Hypergraph coarse = contracted(fine, coarse_of, clusters);
    return {.coarse = std::move(coarse), .coarse_of = std::move(coarse_of)};
}

}  // namespace gnnbench::hypergraph
