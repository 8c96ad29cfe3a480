#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include <data/edges.hpp>

#include <gnnbench/usize.hpp>

namespace gnnbench {

/// A graph of about `entries` stored entries out of draw_edge(e, u, v), which gives edge e = 0, 1, … and may
/// depend on nothing else. Self-loops and duplicates do not count, so further rounds draw replacements; it ends within
/// 0.2%, or after 12 rounds where a graph is too dense for its shape (what it has then is counted in the
/// manifest).
template <class DrawEdge>
RawGraph draw_until(std::int64_t vertices, std::int64_t entries, bool directed, DrawEdge draw_edge) {
    RawGraph graph;
    graph.indptr.resize(usize(vertices) + 1);
    std::int64_t first = 0, per_edge = directed ? 1 : 2;
    double new_share = 1;  // edges of the last round that were new
    for (int round = 0; round < 12; ++round) {
        auto missing = entries - static_cast<std::int64_t>(graph.indices.size());
        if (missing < per_edge || (round > 0 && missing <= entries / 500)) break;
        auto before = static_cast<std::int64_t>(graph.indices.size());
        const std::int64_t edges = missing / per_edge;
        auto count = static_cast<std::int64_t>(static_cast<double>(edges) / std::max(new_share, 0.1));
        std::vector<std::int32_t> source(usize(count)), target(usize(count));
#pragma omp parallel for
        for (std::int64_t e = 0; e < count; ++e) draw_edge(first + e, source[usize(e)], target[usize(e)]);
        auto drawn = build_pattern(vertices, std::move(source), std::move(target), directed);
        graph = round == 0 ? std::move(drawn) : merge_patterns(graph, drawn);
        first += count;
        new_share = static_cast<double>(static_cast<std::int64_t>(graph.indices.size()) - before) /
                    static_cast<double>(count * per_edge);
    }
    graph.listed_edges = static_cast<std::int64_t>(graph.indices.size()) / per_edge;
    graph.loops_dropped = graph.repeats_merged = 0;
    return graph;
}

/// Entries that average_degree asks for: no more than there are pairs of different vertices.
inline std::int64_t wanted_entries(std::int64_t vertices, double average_degree) {
    auto n = static_cast<double>(vertices);
    return static_cast<std::int64_t>(n * std::min(average_degree, n - 1));
}

/// A seeded permutation of 0 … n−1.
std::vector<std::int32_t> shuffled_ids(std::int64_t n, std::uint64_t seed);

}  // namespace gnnbench
