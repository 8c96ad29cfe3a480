#pragma once
#include <algorithm>
#include <set>
#include <vector>

#include "contract/graphs.hpp"
#include "hypergraph.hpp"
#include "nets.hpp"
#include "random.hpp"

/// What tests of the hypergraph partitioner's stages share: graphs, and counts made independently of it.

namespace gnnbench::hypergraph {

/// Rows of uneven length: each entry's column is drawn with a preference for small numbers, some diagonals stored.
inline graphs::NamedGraph random_graph(std::int32_t n, int entries, std::uint64_t seed) {
    graphs::Entries e;
    for (int i = 0; i < entries; ++i) {
        const std::uint64_t draw = mixed(seed, static_cast<std::uint64_t>(i));
        const auto row = static_cast<std::int32_t>(draw % static_cast<std::uint64_t>(n));
        const std::uint64_t near = mixed(draw) % 4 == 0 ? 1 + mixed(draw, 1) % 4 : static_cast<std::uint64_t>(n);
        e.emplace_back(row, static_cast<std::int32_t>(mixed(draw, 2) % near));
    }
    return graphs::from_entries("random", n, e);
}

inline std::vector<PartId> random_parts(Id n, PartId parts, std::uint64_t seed) {
    std::vector<PartId> part_of(n);
    for (Id v = 0; v < n; ++v)
        part_of[v] = static_cast<PartId>(mixed(seed, v) % static_cast<std::uint64_t>(parts));
    return part_of;
}

/// Σ ω(e)(λ(e) − 1) with a set for each net.
inline std::int64_t by_sets(const Hypergraph& h, const std::vector<PartId>& part_of) {
    std::int64_t sum = 0;
    for (Id e = 0; e < h.net_count(); ++e) {
        std::set<PartId> met;
        for (const Id v : h.pins_of(e)) met.insert(part_of[v]);
        sum += h.net_weight[e] * (static_cast<std::int64_t>(met.size()) - 1);
    }
    return sum;
}

inline Weight heaviest(const Hypergraph& h, const std::vector<PartId>& part_of, PartId parts) {
    std::vector<Weight> load(static_cast<std::size_t>(parts));
    for (Id v = 0; v < h.vertex_count(); ++v) load[static_cast<std::size_t>(part_of[v])] += h.vertex_weight[v];
    return *std::max_element(load.begin(), load.end());
}

}  // namespace gnnbench::hypergraph
