#include <data/generators/stubs.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <unordered_set>
#include <utility>

#include <gnnbench/array_size.hpp>
#include <gnnbench/random.hpp>
#include <gnnbench/usize.hpp>

#include <data/draws.hpp>
#include <data/edges.hpp>

namespace gnnbench {

namespace {

/// Where each vertex' stubs begin.
std::vector<std::int64_t> stub_starts(std::span<const std::int32_t> times) {
    std::vector<std::int64_t> start(times.size() + 1);
    for (std::size_t v = 0; v < times.size(); ++v) start[v + 1] = start[v] + times[v];
    return start;
}

std::vector<std::int32_t> stubs_in_order(std::span<const std::int32_t> times) {
    const auto start = stub_starts(times);
    std::vector<std::int32_t> stubs(array_elements("the ends of edges", {start.back()}, sizeof(std::int32_t)));
#pragma omp parallel for schedule(static)
    for (std::int64_t v = 0; v < std::ssize(times); ++v)
        std::fill(stubs.begin() + start[usize(v)], stubs.begin() + start[usize(v) + 1],
                  static_cast<std::int32_t>(v));
    return stubs;
}

/// The bucket of every stub, drawn at random.
std::vector<std::uint16_t> drawn_buckets(std::int64_t stubs, std::uint32_t buckets, std::uint64_t seed,
                                         std::uint32_t round) {
    std::vector<std::uint16_t> bucket(usize(stubs));
#pragma omp parallel for schedule(static)
    for (std::int64_t four = 0; four < (stubs + 3) / 4; ++four) {
        const auto words = draw(seed, Draw::graph, static_cast<std::uint64_t>(four), round, DataDraw::stub_bucket);
        for (std::int64_t i = 4 * four; i < std::min(4 * four + 4, stubs); ++i)
            bucket[usize(i)] = static_cast<std::uint16_t>(scaled(words[usize(i % 4)], buckets));
    }
    return bucket;
}

/// Fisher and Yates on stubs that begin at position `first` of all.
void shuffle_bucket(std::span<std::int32_t> stubs, std::int64_t first, std::uint64_t seed, std::uint32_t round) {
    std::array<std::uint32_t, 4> words{};
    std::uint64_t drawn = ~std::uint64_t{0};
    for (auto i = stubs.size(); i > 1; --i) {
        const auto position = static_cast<std::uint64_t>(first) + i;
        if (position / 4 != drawn) {
            drawn = position / 4;
            words = draw(seed, Draw::graph, drawn, round, DataDraw::stub_order);
        }
        std::swap(stubs[i - 1], stubs[scaled(words[position % 4], i)]);
    }
}

/// Every stub into its bucket, those of one in order: chunks of stubs are counted, then placed. The number of chunks
/// depends on that of stubs alone. Returns where the buckets begin.
std::vector<std::int64_t> scatter(std::span<const std::int32_t> stubs, std::span<const std::uint16_t> bucket,
                                  std::int64_t buckets, std::vector<std::int32_t>& placed) {
    const auto size = std::max<std::int64_t>(std::ssize(stubs) / 256, 1 << 16);
    const auto chunks = (std::ssize(stubs) + size - 1) / size;
    std::vector<std::int64_t> next(usize(chunks * buckets)), first(usize(buckets) + 1);
    const auto each = [&](auto visit) {
#pragma omp parallel for schedule(dynamic)
        for (std::int64_t c = 0; c < chunks; ++c)
            for (auto i = c * size; i < std::min((c + 1) * size, std::ssize(stubs)); ++i)
                visit(next[usize(c * buckets + bucket[usize(i)])], i);
    };
    each([](std::int64_t& count, std::int64_t) { ++count; });
    std::int64_t at = 0;
    for (std::int64_t b = 0; b < buckets; ++b) {
        first[usize(b)] = at;
        for (std::int64_t c = 0; c < chunks; ++c) at += std::exchange(next[usize(c * buckets + b)], at);
    }
    first[usize(buckets)] = at;
    each([&](std::int64_t& to, std::int64_t i) { placed[usize(to++)] = stubs[usize(i)]; });
    return first;
}

}  // namespace

// Rao and Sandelius: into random buckets, and each bucket shuffled.
std::vector<std::int32_t> shuffled_stubs(std::span<const std::int32_t> times, std::uint64_t seed,
                                         std::uint32_t round) {
    const auto stubs = stubs_in_order(times);
    const auto buckets = std::clamp<std::int64_t>(std::ssize(stubs) >> 14, 1, 1 << 13);
    const auto bucket = drawn_buckets(std::ssize(stubs), static_cast<std::uint32_t>(buckets), seed, round);
    std::vector<std::int32_t> placed(stubs.size());
    const auto first = scatter(stubs, bucket, buckets, placed);
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t b = 0; b < buckets; ++b)
        shuffle_bucket(
            std::span(placed).subspan(usize(first[usize(b)]), usize(first[usize(b) + 1] - first[usize(b)])),
            first[usize(b)], seed, round);
    return placed;
}

namespace {

using Pair = std::uint64_t;  ///< smaller end · 2^32 + larger end

Pair pair_of(std::int32_t u, std::int32_t v) {
    return static_cast<Pair>(std::min(u, v)) << 32 | static_cast<Pair>(std::max(u, v));
}
std::int32_t first_end(Pair p) { return static_cast<std::int32_t>(p >> 32); }
std::int32_t second_end(Pair p) { return static_cast<std::int32_t>(p & 0xffffffffu); }

std::span<const std::int32_t> row(const RawGraph& g, std::int64_t v) {
    return std::span(g.indices).subspan(usize(g.indptr[usize(v)]),
                                        usize(g.indptr[usize(v) + 1] - g.indptr[usize(v)]));
}

bool has_edge(const RawGraph& g, std::int32_t u, std::int32_t v) {
    return row(g, u).size() < row(g, v).size() ? std::ranges::binary_search(row(g, u), v)
                                               : std::ranges::binary_search(row(g, v), u);
}

/// Pairs to be added to a graph and to be taken out of it.
struct Changes {
    std::unordered_set<Pair> added, removed;

    bool joined(const RawGraph& g, std::int32_t u, std::int32_t v) const {
        const auto p = pair_of(u, v);
        return added.contains(p) || (has_edge(g, u, v) && !removed.contains(p));
    }
};

RawGraph as_graph(std::int64_t vertices, const std::unordered_set<Pair>& pairs) {
    std::vector<std::int32_t> source, target;
    for (auto p : pairs) source.push_back(first_end(p)), target.push_back(second_end(p));
    return build_pattern(vertices, std::move(source), std::move(target), false);
}

RawGraph changed(const RawGraph& graph, const Changes& changes) {
    const auto n = graph.vertices();
    const auto added = as_graph(n, changes.added), removed = as_graph(n, changes.removed);
    RawGraph all;
    all.indptr.resize(usize(n) + 1);
    for (std::size_t v = 0; v < usize(n); ++v)
        all.indptr[v + 1] = all.indptr[v] + std::ssize(row(graph, static_cast<std::int64_t>(v))) +
                            std::ssize(row(added, static_cast<std::int64_t>(v))) -
                            std::ssize(row(removed, static_cast<std::int64_t>(v)));
    all.indices.resize(usize(all.indptr.back()));
#pragma omp parallel
    {
        std::vector<std::int32_t> kept;
#pragma omp for schedule(dynamic, 1024)
        for (std::int64_t v = 0; v < n; ++v) {
            kept.clear();
            std::ranges::set_difference(row(graph, v), row(removed, v), std::back_inserter(kept));
            std::ranges::merge(kept, row(added, v), all.indices.begin() + all.indptr[usize(v)]);
        }
    }
    return all;
}

/// Degrees less what the edges use of them.
std::vector<std::int32_t> left_of(std::span<const std::int32_t> degrees, const EdgeEnds& used) {
    std::vector<std::int32_t> left(degrees.begin(), degrees.end());
    const auto take = [&](std::int32_t v) {
        std::atomic_ref(left[usize(v)]).fetch_sub(1, std::memory_order_relaxed);
    };
#pragma omp parallel for schedule(static)
    for (std::int64_t e = 0; e < std::ssize(used.source); ++e) {
        take(used.source[usize(e)]);
        take(used.target[usize(e)]);
    }
    return left;
}

/// Joins stubs 2i and 2i + 1 behind the edges that there are.
void join_pairs(EdgeEnds& edges, std::span<const std::int32_t> stubs) {
    const auto before = edges.source.size(), pairs = stubs.size() / 2;
    edges.source.resize(before + pairs);
    edges.target.resize(before + pairs);
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(pairs); ++i) {
        edges.source[before + usize(i)] = stubs[usize(2 * i)];
        edges.target[before + usize(i)] = stubs[usize(2 * i + 1)];
    }
}

constexpr std::uint32_t again_rounds = 32;  ///< of shuffled_stubs; later ones are exchanges

/// Matches what vertices lack again and again, while that still joins an eighth of the stubs.
void match_again(const RawGraph& graph, std::vector<std::int32_t> missing, std::uint64_t seed, Changes& changes) {
    for (std::uint32_t round = 1; round < again_rounds; ++round) {
        const auto stubs = shuffled_stubs(missing, seed, round);
        std::size_t joined = 0;
        for (std::size_t i = 0; i + 1 < stubs.size(); i += 2) {
            const auto u = stubs[i], v = stubs[i + 1];
            if (u == v || changes.joined(graph, u, v)) continue;
            changes.added.insert(pair_of(u, v));
            --missing[usize(u)], --missing[usize(v)];
            ++joined;
        }
        if (16 * joined <= stubs.size()) return;
    }
}

/// Puts pairs of stubs that cannot be joined where random edges of the graph are.
class Exchanges {
public:
    Exchanges(const RawGraph& graph, std::span<const std::int32_t> group, RandomStream& random)
        : graph_(graph), group_(group), random_(random) {}

    /// One edge more for u and for v, which may be the same vertex; nothing where no edge is found to change places
    /// with.
    void join(std::int32_t u, std::int32_t v) {
        if (u != v && !changes_.joined(graph_, u, v)) return add(u, v);
        if (graph_.indices.empty()) return;
        for (int attempt = 0; attempt < 500; ++attempt) {
            const auto [x, y] = random_edge();
            if (exchange(u, v, x, y)) return;
        }
    }
    /// Two random edges exchange their ends.
    void stir() {
        const auto [u, v] = random_edge();
        if (!may_go(u, v)) return;
        const auto [x, y] = random_edge();
        if (exchange(u, v, x, y)) changes_.removed.insert(pair_of(u, v));
    }
    const Changes& changes() const { return changes_; }

private:
    struct Edge {
        std::int32_t u, v;
    };
    Edge random_edge() {
        const auto entry = static_cast<std::int64_t>(random_.below(graph_.indices.size()));
        return {
            static_cast<std::int32_t>(std::ranges::upper_bound(graph_.indptr, entry) - graph_.indptr.begin() - 1),
            graph_.indices[usize(entry)]};
    }

    bool may_go(std::int32_t x, std::int32_t y) const {
        const bool inside = !group_.empty() && group_[usize(x)] >= 0 && group_[usize(x)] == group_[usize(y)];
        return !inside && !changes_.removed.contains(pair_of(x, y));
    }

    bool exchange(std::int32_t u, std::int32_t v, std::int32_t x, std::int32_t y) {
        if (u == x || u == y || v == x || v == y || !may_go(x, y)) return false;
        if (changes_.joined(graph_, u, x) || changes_.joined(graph_, v, y)) return false;
        changes_.removed.insert(pair_of(x, y));
        add(u, x);
        add(v, y);
        return true;
    }

    /// An edge that an earlier exchange removed comes back.
    void add(std::int32_t u, std::int32_t v) {
        if (changes_.removed.erase(pair_of(u, v)) == 0) changes_.added.insert(pair_of(u, v));
    }

    const RawGraph& graph_;
    std::span<const std::int32_t> group_;
    RandomStream& random_;
    Changes changes_;
};

std::vector<std::int32_t> missing_of(std::span<const std::int32_t> degrees, const RawGraph& graph) {
    std::vector<std::int32_t> missing(degrees.begin(), degrees.end());
    for (std::size_t v = 0; v < missing.size(); ++v)
        missing[v] -= static_cast<std::int32_t>(std::ssize(row(graph, static_cast<std::int64_t>(v))));
    return missing;
}

/// Rounds of exchanges until every vertex has its degree. Where a round finds none, other edges exchange their ends,
/// so that the next may.
RawGraph exchanged(RawGraph graph, const StubMatching& matching) {
    RandomStream random(matching.seed, Draw::graph, static_cast<std::uint32_t>(DataDraw::exchange));
    for (std::uint32_t round = again_rounds; round < again_rounds + 32; ++round) {
        const auto left = shuffled_stubs(missing_of(matching.degrees, graph), matching.seed, round);
        if (left.empty() || graph.indices.empty()) break;
        Exchanges exchanges(graph, matching.group, random);
        for (std::size_t i = 0; i + 1 < left.size(); i += 2) exchanges.join(left[i], left[i + 1]);
        if (exchanges.changes().added.empty())
            for (std::size_t i = 0; i < 10 * left.size(); ++i) exchanges.stir();
        graph = changed(graph, exchanges.changes());
    }
    return graph;
}

}  // namespace

RawGraph match_stubs(StubMatching matching) {
    auto edges = std::move(matching.given);
    join_pairs(edges, shuffled_stubs(left_of(matching.degrees, edges), matching.seed, 0));
    auto graph =
        build_pattern(std::ssize(matching.degrees), std::move(edges.source), std::move(edges.target), false);
    Changes changes;
    match_again(graph, missing_of(matching.degrees, graph), matching.seed, changes);
    if (!changes.added.empty()) graph = changed(graph, changes);
    graph = exchanged(std::move(graph), matching);
    graph.listed_edges = std::ssize(graph.indices) / 2;
    graph.loops_dropped = graph.repeats_merged = 0;
    return graph;
}

}  // namespace gnnbench
