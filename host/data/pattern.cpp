#include <algorithm>
#include <atomic>
#include <iterator>
#include <numeric>
#include <span>

#include <data/edges.hpp>

#include <gnnbench/usize.hpp>

namespace gnnbench {

namespace {

std::size_t at(std::int64_t i) { return usize(i); }

std::int64_t take_next(std::int64_t& counter) {
    return std::atomic_ref(counter).fetch_add(1, std::memory_order_relaxed);
}

/// How much of each row is left, and how many entries (v, v) are gone.
struct Deduplicated {
    std::vector<std::int64_t> length;
    std::int64_t loops = 0;
};

/// Sorts every row and drops its duplicates; rows stay in place.
Deduplicated sort_rows(std::int64_t vertices, const std::vector<std::int64_t>& start,
                       std::vector<std::int32_t>& columns) {
    std::vector<std::int64_t> length(at(vertices));
    std::int64_t loops = 0;
#pragma omp parallel for schedule(dynamic, 1024) reduction(+ : loops)
    for (std::int64_t v = 0; v < vertices; ++v) {
        auto begin = columns.begin() + start[at(v)], end = columns.begin() + start[at(v) + 1];
        std::sort(begin, end);
        const auto own = std::equal_range(begin, end, static_cast<std::int32_t>(v));
        loops += std::max<std::int64_t>(0, own.second - own.first - 1);
        length[at(v)] = std::unique(begin, end) - begin;
    }
    return {std::move(length), loops};
}

/// Moves the rows together, in place: none moves past where it stood.
RawGraph pack_rows(const std::vector<std::int64_t>& start, const std::vector<std::int64_t>& length,
                   std::vector<std::int32_t> columns) {
    RawGraph graph;
    graph.indptr.resize(start.size());
    for (std::size_t v = 0; v < length.size(); ++v) {
        graph.indptr[v + 1] = graph.indptr[v] + length[v];
        auto begin = columns.begin() + start[v];
        if (graph.indptr[v] != start[v]) std::copy(begin, begin + length[v], columns.begin() + graph.indptr[v]);
    }
    columns.resize(at(graph.indptr.back()));
    graph.indices = std::move(columns);
    return graph;
}

}  // namespace

// Threads scatter in any order; sorting each row afterwards makes the result the same for all of them.
RawGraph build_pattern(std::int64_t vertices, std::vector<std::int32_t> source, std::vector<std::int32_t> target,
                       bool directed, Loops policy) {
    const bool drops = policy == Loops::drop;
    auto edges = static_cast<std::int64_t>(source.size());
    std::vector<std::int64_t> start(at(vertices + 1));
    std::int64_t loops = 0;
#pragma omp parallel for reduction(+ : loops)
    for (std::int64_t e = 0; e < edges; ++e) {
        auto u = source[at(e)], v = target[at(e)];
        loops += u == v;
        if (u == v && drops) continue;
        take_next(start[at(v) + 1]);
        if (!directed && u != v) take_next(start[at(u) + 1]);
    }
    std::partial_sum(start.begin(), start.end(), start.begin());
    std::vector<std::int32_t> columns(at(start.back()));
    std::vector<std::int64_t> cursor(start.begin(), start.end() - 1);
#pragma omp parallel for
    for (std::int64_t e = 0; e < edges; ++e) {
        auto u = source[at(e)], v = target[at(e)];
        if (u == v && drops) continue;
        columns[at(take_next(cursor[at(v)]))] = u;
        if (!directed && u != v) columns[at(take_next(cursor[at(u)]))] = v;
    }
    source = {};
    target = {};
    auto entered = start.back();
    const Deduplicated rows = sort_rows(vertices, start, columns);
    auto graph = pack_rows(start, rows.length, std::move(columns));
    graph.listed_edges = edges;
    graph.loops_dropped = drops ? loops : 0;
    // An undirected edge's repeat shows in two rows, a loop's in one.
    const std::int64_t merged = entered - graph.indptr.back();
    graph.repeats_merged = directed ? merged : (merged - rows.loops) / 2 + rows.loops;
    return graph;
}

RawGraph merge_patterns(const RawGraph& a, const RawGraph& b) {
    auto n = a.vertices();
    RawGraph all;
    all.indptr.resize(at(n + 1));
    auto row = [](const RawGraph& g, std::int64_t v) {
        return std::span(g.indices).subspan(at(g.indptr[at(v)]), at(g.indptr[at(v) + 1] - g.indptr[at(v)]));
    };
    // Once for the lengths of the rows, once for the rows.
#pragma omp parallel
    {
        std::vector<std::int32_t> both;
#pragma omp for schedule(dynamic, 1024)
        for (std::int64_t v = 0; v < n; ++v) {
            both.clear();
            std::ranges::set_union(row(a, v), row(b, v), std::back_inserter(both));
            all.indptr[at(v) + 1] = std::ssize(both);
        }
    }
    std::partial_sum(all.indptr.begin(), all.indptr.end(), all.indptr.begin());
    all.indices.resize(at(all.indptr.back()));
#pragma omp parallel for schedule(dynamic, 1024)
    for (std::int64_t v = 0; v < n; ++v)
        std::ranges::set_union(row(a, v), row(b, v), all.indices.begin() + all.indptr[at(v)]);
    return all;
}

}  // namespace gnnbench
