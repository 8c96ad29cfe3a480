// A random regular graph: the union of random permutations of the vertices, as edges v → π(v). Each row is computed on its
// own, from a vertex's id alone, so that a graph takes no more memory than its rows.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include <data/draws.hpp>
#include <data/generators/kinds.hpp>

namespace gnnbench {

namespace {

constexpr auto regular_params =
    joined(std::array<ParamDecl, 3>{{
               vertices_param,
               {"degree", ParamType::integer, "32", 1, 65536, nullptr,
                "entries of every row, and of every column, less what permutations have in common; even unless "
                "directed"},
               directed_graph_param,
           }},
           content_params);

/// A pseudo-random permutation of {0 … n−1}: a Feistel network (Luby and Rackoff, 1988) on the smallest even number of bits
/// that hold n − 1, applied again while its result is n or more.
class RandomPermutation {
public:
    RandomPermutation(std::int64_t n, std::uint64_t seed, std::uint32_t which)
        : n_(static_cast<std::uint64_t>(n)) {
        while (n_ > std::uint64_t{1} << (2 * half_)) ++half_;
        for (std::uint32_t block = 0; block < rounds / 4; ++block)
            std::ranges::copy(draw(seed, Draw::graph, which, block, DataDraw::permutation),
                              keys_.begin() + std::ptrdiff_t{block} * 4);
    }
    std::int64_t of(std::int64_t v) const {
        auto x = static_cast<std::uint64_t>(v);
        do {
            for (std::size_t round = 0; round < rounds; ++round) x = turned(x, keys_[round]);
        } while (x >= n_);
        return static_cast<std::int64_t>(x);
    }
    std::int64_t inverse_of(std::int64_t v) const {
        auto x = static_cast<std::uint64_t>(v);
        do {
            for (std::size_t round = rounds; round-- > 0;) x = turned_back(x, keys_[round]);
        } while (x >= n_);
        return static_cast<std::int64_t>(x);
    }

private:
    static constexpr std::size_t rounds = 8;

    /// (left, right) → (right, left ⊕ mixed(right)).
    std::uint64_t turned(std::uint64_t x, std::uint32_t key) const {
        const std::uint64_t left = x >> half_, right = x & mask();
        return right << half_ | (left ^ mixed(right, key));
    }
    std::uint64_t turned_back(std::uint64_t x, std::uint32_t key) const {
        const std::uint64_t left = x >> half_, right = x & mask();
        return (right ^ mixed(left, key)) << half_ | left;
    }
    /// The finaliser of splitmix64.
    std::uint64_t mixed(std::uint64_t half, std::uint32_t key) const {
        std::uint64_t x = half << 32 | key;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
        return (x ^ (x >> 31)) & mask();
    }
    std::uint64_t mask() const { return (std::uint64_t{1} << half_) - 1; }

    std::uint64_t n_;
    unsigned half_ = 0;  ///< bits
    std::array<std::uint32_t, rounds> keys_{};
};

struct Rows {
    std::vector<RandomPermutation> permutations;
    bool directed;

    /// The row of v, ascending, without v and without repeats; returns how many permutations leave v where it is.
    std::int64_t fill(std::int64_t v, std::vector<std::int32_t>& row) const {
        row.clear();
        std::int64_t loops = 0;
        for (const RandomPermutation& p : permutations) {
            // v aggregates from what is sent to it: π⁻¹(v) → v, and in an undirected graph v → π(v) too.
            row.push_back(static_cast<std::int32_t>(p.inverse_of(v)));
            loops += row.back() == v;
            if (!directed) row.push_back(static_cast<std::int32_t>(p.of(v)));
        }
        std::ranges::sort(row);
        const auto repeats = std::ranges::unique(row);
        row.erase(repeats.begin(), repeats.end());
        if (const auto loop = std::ranges::lower_bound(row, static_cast<std::int32_t>(v));
            loop != row.end() && *loop == v)
            row.erase(loop);
        return loops;
    }
};

std::string regular_label(const Params& p) {
    return fmt::format("regular-{}x{}", p.integer("vertices"), p.integer("degree"));
}

GraphSize regular_size(const Params& p) {
    return {.vertices = p.integer("vertices"), .entries = p.integer("vertices") * p.integer("degree")};
}

RawDataset make_regular(const Params& p) {
    const std::int64_t n = p.integer("vertices"), degree = p.integer("degree");
    Rows rows{{}, p.boolean("directed")};
    if (!rows.directed && degree % 2 == 1)
        throw SpecError(
            fmt::format("parameters of generator regular: degree is {}; in an undirected graph, where a "
                        "permutation gives each vertex two neighbours, it must be even",
                        degree));
    if (degree >= n)
        throw SpecError(
            fmt::format("parameters of generator regular: degree is {}, at most {} are allowed, the other "
                        "vertices",
                        degree, n - 1));
    const std::int64_t permutations = rows.directed ? degree : degree / 2;
    for (std::int64_t i = 0; i < permutations; ++i)
        rows.permutations.emplace_back(n, static_cast<std::uint64_t>(p.integer("seed")),
                                       static_cast<std::uint32_t>(i));
    RawDataset data;
    RawGraph& graph = data.graph;
    graph.indptr.assign(usize(n) + 1, 0);
    std::int64_t loops = 0;
#pragma omp parallel reduction(+ : loops)
    {
        std::vector<std::int32_t> row;
#pragma omp for schedule(static)
        for (std::int64_t v = 0; v < n; ++v) {
            loops += rows.fill(v, row);
            graph.indptr[usize(v) + 1] = std::ssize(row);
        }
    }
    for (std::size_t v = 1; v < graph.indptr.size(); ++v) graph.indptr[v] += graph.indptr[v - 1];
    graph.indices.resize(usize(graph.indptr.back()));
#pragma omp parallel
    {
        std::vector<std::int32_t> row;
#pragma omp for schedule(static)
        for (std::int64_t v = 0; v < n; ++v) {
            rows.fill(v, row);
            std::ranges::copy(row, graph.indices.begin() + graph.indptr[usize(v)]);
        }
    }
    graph.listed_edges = n * permutations;
    graph.loops_dropped = loops;
    graph.repeats_merged = graph.listed_edges - loops - std::ssize(graph.indices) / (rows.directed ? 1 : 2);
    return data;
}

}  // namespace

const GeneratorKind regular_generator{"regular",
                                      "every vertex of one degree, random neighbours, features and labels",
                                      1,
                                      regular_params,
                                      regular_label,
                                      regular_size,
                                      make_regular};

}  // namespace gnnbench
