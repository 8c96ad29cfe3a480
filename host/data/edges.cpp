#include <data/edges.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include <gnnbench/array_size.hpp>
#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include <data/content.hpp>

namespace gnnbench {

namespace {

std::size_t at(std::int64_t i) { return usize(i); }

/// Edge numbers by the row they are entered in, in listing order: row r has [start[r], start[r+1]). A number
/// is 2e for (u of row v), 2e + 1 for its mirror (v of row u).
struct Entries {
    std::vector<std::int64_t> start;
    std::vector<std::int64_t> number;
};

/// Calls enter(row, number) for every entry that the edges make under the policy.
template <class Enter>
void each_entry(const EdgeList& edges, EdgePolicy policy, Enter enter) {
    for (std::int64_t e = 0; e < edges.edges(); ++e) {
        auto u = edges.source[at(e)], v = edges.target[at(e)];
        if (u == v && policy.loops == Loops::drop) continue;
        enter(v, 2 * e);
        if (policy.listing == Listing::undirected && u != v) enter(u, 2 * e + 1);
    }
}

Entries bucket_by_row(const EdgeList& edges, EdgePolicy policy) {
    Entries entries{std::vector<std::int64_t>(at(edges.vertices + 1)), {}};
    each_entry(edges, policy, [&](std::int32_t row, std::int64_t) { ++entries.start[at(row) + 1]; });
    std::partial_sum(entries.start.begin(), entries.start.end(), entries.start.begin());
    entries.number.resize(at(entries.start.back()));
    std::vector<std::int64_t> cursor(entries.start.begin(), entries.start.end() - 1);
    each_entry(edges, policy,
               [&](std::int32_t row, std::int64_t n) { entries.number[at(cursor[at(row)]++)] = n; });
    return entries;
}

std::int32_t column(const EdgeList& edges, std::int64_t number) {
    return number % 2 == 0 ? edges.source[at(number / 2)] : edges.target[at(number / 2)];
}

ListedEdge listed_edge(const EdgeList& edges, std::int64_t number) {
    const auto e = at(number / 2);
    return {edges.source[e], edges.target[e], edges.line.empty() ? 0 : edges.line[e]};
}

/// Appends row r, sorted, its repeats merged as the policy says.
void append_row(RawGraph& graph, const EdgeList& edges, EdgePolicy policy, std::span<std::int64_t> numbers,
                std::int64_t& merged_twice) {
    bool weighted = !edges.weight.empty() || policy.repeats == Repeats::sum;
    std::stable_sort(numbers.begin(), numbers.end(),
                     [&](auto a, auto b) { return column(edges, a) < column(edges, b); });
    auto row = static_cast<std::int32_t>(graph.indptr.size()) - 1;
    std::int64_t first = -1;
    for (auto number : numbers) {
        auto u = column(edges, number);
        float weight = edges.weight.empty() ? 1.0f : edges.weight[at(number / 2)];
        if (first >= 0 && column(edges, first) == u) {
            if (policy.repeats == Repeats::error)
                refuse_repeat(edges.file, listed_edge(edges, first), listed_edge(edges, number));
            if (policy.repeats == Repeats::sum) graph.weights.back() += weight;
            // An undirected edge's repeat shows in two rows, a loop's in one.
            merged_twice += policy.listing == Listing::undirected && u != row ? 1 : 2;
            continue;
        }
        first = number;
        graph.indices.push_back(u);
        if (weighted) graph.weights.push_back(weight);
    }
    graph.indptr.push_back(static_cast<std::int64_t>(graph.indices.size()));
}

void require_mirrored(const RawGraph& graph, const EdgeList& edges) {
    auto has = [&](std::int32_t row, std::int32_t col) -> const std::int32_t* {
        auto begin = graph.indices.data() + graph.indptr[at(row)],
             end = graph.indices.data() + graph.indptr[at(row) + 1];
        auto found = std::lower_bound(begin, end, col);
        return found != end && *found == col ? found : nullptr;
    };
    for (std::int64_t e = 0; e < edges.edges(); ++e) {
        auto u = edges.source[at(e)], v = edges.target[at(e)];
        auto there = has(v, u), back = has(u, v);
        auto where = edges.line.empty() ? edges.file : fmt::format("{}:{}", edges.file, edges.line[at(e)]);
        if (there && !back)
            throw DataError(
                fmt::format("{}: vertex {} lists {}, but {} does not list {}; an undirected graph lists "
                            "both",
                            where, v + 1, u + 1, u + 1, v + 1));
        if (there && !graph.weights.empty()) {
            auto w = graph.weights[usize(there - graph.indices.data())];
            auto w_back = graph.weights[usize(back - graph.indices.data())];
            if (w != w_back)
                throw DataError(
                    fmt::format("{}: edge {} – {} has weight {} here and {} where it is listed from its other "
                                "end; an undirected graph has one",
                                where, v + 1, u + 1, w, w_back));
        }
    }
}

}  // namespace

namespace {

/// Whether only the pattern counts, which build_pattern makes much faster.
bool is_pattern(const EdgeList& edges, EdgePolicy policy) {
    const bool as_listed = policy.listing == Listing::directed || policy.listing == Listing::undirected;
    return as_listed && edges.weight.empty() && policy.repeats == Repeats::drop;
}

}  // namespace

void refuse_repeat(const std::string& file, const ListedEdge& first, const ListedEdge& again) {
    const bool known = again.line > 0;
    throw DataError(
        fmt::format("{}: edge {} → {} (vertices numbered from 0) is listed again{}; `repeats: error` allows "
                    "no edge twice, `drop` and `sum` do",
                    known ? fmt::format("{}:{}", file, again.line) : file, again.source, again.target,
                    known ? fmt::format(", first on line {}", first.line) : std::string()));
}

RawGraph build_graph(EdgeList edges, EdgePolicy policy) {
    // Row pointers three times, while it is built. A header, or one large id, can promise any number of vertices.
    array_elements(edges.file + ": the rows of the graph", {edges.vertices, 3}, sizeof(std::int64_t));
    if (is_pattern(edges, policy))
        return build_pattern(edges.vertices, std::move(edges.source), std::move(edges.target),
                             policy.listing == Listing::directed, policy.loops);
    auto entries = bucket_by_row(edges, policy);
    RawGraph graph;
    graph.indptr.reserve(at(edges.vertices + 1));
    graph.indices.reserve(entries.number.size());
    std::int64_t merged_twice = 0;
    for (std::int64_t v = 0; v < edges.vertices; ++v) {
        auto begin = entries.start[at(v)], end = entries.start[at(v) + 1];
        append_row(graph, edges, policy, std::span(entries.number).subspan(at(begin), at(end - begin)),
                   merged_twice);
    }
    graph.listed_edges = edges.edges();
    graph.repeats_merged = merged_twice / 2;
    if (policy.loops == Loops::drop)
        for (std::int64_t e = 0; e < edges.edges(); ++e)
            graph.loops_dropped += edges.source[at(e)] == edges.target[at(e)];
    bool needs_mirrors = policy.listing == Listing::mirrored || policy.listing == Listing::completed;
    if (!needs_mirrors || measure_symmetry(graph.view()).weights) return graph;
    if (policy.listing == Listing::mirrored) require_mirrored(graph, edges);
    auto completed = build_graph(std::move(edges), {Listing::undirected, policy.loops, Repeats::drop});
    completed.repeats_merged = graph.repeats_merged;
    return completed;
}

}  // namespace gnnbench
