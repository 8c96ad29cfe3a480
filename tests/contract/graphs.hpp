#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gnnbench/graph.hpp>
#include <gnnbench/random.hpp>
#include <gnnbench/tiles.hpp>
#include <gnnbench/transpose.hpp>

/// Graphs small enough to reason about, by name.
namespace gnnbench::graphs {

struct NamedGraph {
    std::string name;
    std::vector<std::int64_t> indptr;   ///< length vertices + 1
    std::vector<std::int32_t> indices;  ///< length edges
    std::vector<float> weights;         ///< length edges, or empty
    bool symmetric = false;
    RowArrays transpose = {};  ///< empty: not at hand
    TileArrays tiles = {}, transpose_tiles = {};
    bool rows_unreadable = false;  ///< a training that reads the columns of rows, in place of tiles, fails

    GraphView view() const {
        return {.indptr = indptr,
                .indices = indices,
                .weights = weights,
                .symmetric = symmetric,
                .transpose = transpose.view(),
                .tiles = tiles.view(),
                .transpose_tiles = transpose_tiles.view()};
    }
};

/// A graph as a dataset without features, labels and splits.
inline DatasetView bare(const GraphView& graph) {
    return {.name = "", .graph = graph, .features = {}, .labels = {}, .split = {}};
}

/// Row, column.
using Entries = std::vector<std::pair<std::int32_t, std::int32_t>>;

inline NamedGraph from_entries(std::string name, std::int64_t vertices, Entries entries) {
    std::sort(entries.begin(), entries.end());
    entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
    NamedGraph g{
        std::move(name), std::vector<std::int64_t>(static_cast<std::size_t>(vertices) + 1), {}, {}, false};
    for (const auto& [row, column] : entries) {
        ++g.indptr[static_cast<std::size_t>(row) + 1];
        g.indices.push_back(column);
    }
    for (std::size_t v = 1; v < g.indptr.size(); ++v) g.indptr[v] += g.indptr[v - 1];
    return g;
}

/// Both directions of each pair.
inline Entries both_ways(Entries entries) {
    const Entries one_way = entries;
    for (const auto& [u, v] : one_way) entries.emplace_back(v, u);
    return entries;
}

/// side × side vertices, each with its neighbours left, right, above and below.
inline NamedGraph grid(std::int32_t side) {
    Entries e;
    for (std::int32_t y = 0; y < side; ++y)
        for (std::int32_t x = 0; x < side; ++x) {
            if (x + 1 < side) e.emplace_back(y * side + x, y * side + x + 1);
            if (y + 1 < side) e.emplace_back(y * side + x, (y + 1) * side + x);
        }
    return from_entries("grid " + std::to_string(side), std::int64_t{side} * side, both_ways(e));
}

/// 0 → 1 → 2 → … one way round, so that A is not symmetric.
inline NamedGraph directed_cycle(std::int32_t n) {
    Entries e;
    for (std::int32_t v = 0; v < n; ++v) e.emplace_back((v + 1) % n, v);
    return from_entries("directed cycle " + std::to_string(n), n, e);
}

/// Vertex 0 receives from all others, which receive from none: every row but one is empty.
inline NamedGraph directed_star(std::int32_t n) {
    Entries e;
    for (std::int32_t v = 1; v < n; ++v) e.emplace_back(0, v);
    return from_entries("directed star " + std::to_string(n), n, e);
}

/// Cliques of five with no edge between them, and five vertices without any edge.
inline NamedGraph disconnected(std::int32_t cliques) {
    Entries e;
    for (std::int32_t c = 0; c < cliques; ++c)
        for (std::int32_t i = 0; i < 5; ++i)
            for (std::int32_t j = 0; j < 5; ++j)
                if (i != j) e.emplace_back(5 * c + i, 5 * c + j);
    return from_entries(std::to_string(cliques) + " cliques", 5 * cliques + 5, e);
}

inline NamedGraph clique(std::int32_t n) {
    Entries e;
    for (std::int32_t i = 0; i < n; ++i)
        for (std::int32_t j = 0; j < n; ++j)
            if (i != j) e.emplace_back(i, j);
    return from_entries("clique " + std::to_string(n), n, e);
}

inline NamedGraph path(std::int32_t n) {
    Entries e;
    for (std::int32_t v = 0; v + 1 < n; ++v) e.emplace_back(v, v + 1);
    return from_entries("path " + std::to_string(n), n, both_ways(e));
}

/// A path whose vertices all have a self-loop.
inline NamedGraph looped_path(std::int32_t n) {
    Entries e;
    for (std::int32_t v = 0; v < n; ++v) {
        e.emplace_back(v, v);
        if (v + 1 < n) e.emplace_back(v, v + 1);
    }
    return from_entries("looped path " + std::to_string(n), n, both_ways(e));
}

inline NamedGraph without_edges(std::int64_t n) {
    return from_entries(std::to_string(n) + " lone vertices", n, {});
}

/// Random directed entries, some vertices without any, weights in (0, 2) where asked.
inline NamedGraph directed_random(std::int32_t n, std::int32_t entries, bool weighted) {
    RandomStream draw(7, Draw::graph);
    Entries e;
    for (std::int32_t i = 0; i < entries; ++i) {
        const auto u = draw.below(static_cast<std::uint64_t>(n)), v = draw.below(static_cast<std::uint64_t>(n));
        if (u % 9 != 0 && v % 11 != 0) e.emplace_back(static_cast<std::int32_t>(u), static_cast<std::int32_t>(v));
    }
    NamedGraph g = from_entries(std::string(weighted ? "weighted" : "plain") + " directed random", n, e);
    if (weighted)
        for (std::size_t i = 0; i < g.indices.size(); ++i)
            g.weights.push_back(static_cast<float>(2 * draw.uniform()));
    return g;
}

/// The same graph with its transpose at hand, as a store has it.
inline NamedGraph with_transpose(NamedGraph g) {
    g.name += ", with its transpose";
    g.transpose = transpose_of(g.view().rows());
    return g;
}

/// The same graph in tiles besides, and its transpose, as a sharded store has it.
inline NamedGraph in_tiles(NamedGraph g, std::int64_t down, std::int64_t across) {
    if (!g.symmetric && g.transpose.indptr.empty()) g = with_transpose(std::move(g));
    g.name += ", in " + std::to_string(down) + " × " + std::to_string(across) + " tiles";
    g.tiles = cut_tiles(g.view().rows(), down, across);
    if (!g.symmetric) g.transpose_tiles = cut_tiles(g.transpose.view(), down, across);
    return g;
}

/// The same graph, said to be symmetric (the caller knows).
inline NamedGraph known_symmetric(NamedGraph g) {
    g.name += ", known symmetric";
    g.symmetric = true;
    return g;
}

/// A small graph of each kind that a strategy must serve.
inline std::vector<NamedGraph> of_every_kind() {
    return {without_edges(1),
            without_edges(3),
            directed_cycle(5),
            directed_star(9),
            disconnected(3),
            known_symmetric(disconnected(3)),
            looped_path(17),
            directed_random(60, 400, false),
            directed_random(40, 200, true),
            with_transpose(directed_random(60, 400, false))};
}

}  // namespace gnnbench::graphs
