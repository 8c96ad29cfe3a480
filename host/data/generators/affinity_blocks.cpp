#include <data/generators/affinity_blocks.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <gnnbench/usize.hpp>

#include <data/draws.hpp>
#include <data/graph_shape.hpp>

namespace gnnbench {

std::int64_t AffinityBlocks::size(std::int64_t block) const {
    return first[usize(block) + 1] - first[usize(block)];
}

namespace {

AffinityBlocks cut(std::span<const std::int32_t> degrees) {
    AffinityBlocks blocks;
    auto at = std::ranges::lower_bound(degrees, 2) - degrees.begin();
    blocks.first.push_back(at);
    while (at < std::ssize(degrees)) {
        at = std::min<std::int64_t>(at + degrees[usize(at)] + 1, std::ssize(degrees));
        blocks.first.push_back(at);
    }
    blocks.connectivity.resize(blocks.first.size() - 1);
    return blocks;
}

double pairs(double n) { return n * (n - 1) / 2; }

/// Vertices whose degrees share a bin, on average.
struct BinMeans {
    double vertices = 0;
    double degree = 0;
    double inside = 0;        ///< edges inside the block
    double connectivity = 0;  ///< of the block
    double outside() const { return degree - inside; }
};

std::vector<BinMeans> bin_means(const AffinityBlocks& blocks, std::span<const std::int32_t> degrees) {
    std::vector<BinMeans> bins(usize(degree_bin(std::max(degrees.back(), 1)) + 1));
    const auto add = [&](std::int64_t position, double inside, double connectivity) {
        const auto d = degrees[usize(position)];
        if (d == 0) return;
        auto& bin = bins[usize(degree_bin(d))];
        bin.vertices += 1, bin.degree += d, bin.inside += inside, bin.connectivity += connectivity;
    };
    for (std::int64_t i = 0; i < blocks.first.front(); ++i) add(i, 0, 0);
    for (std::int64_t b = 0; b < blocks.count(); ++b) {
        const auto rho = blocks.connectivity[usize(b)];
        for (auto i = blocks.first[usize(b)]; i < blocks.first[usize(b) + 1]; ++i)
            add(i, rho * static_cast<double>(blocks.size(b) - 1), rho);
    }
    for (auto& bin : bins)
        if (bin.vertices > 0)
            bin.degree /= bin.vertices, bin.inside /= bin.vertices, bin.connectivity /= bin.vertices;
    return bins;
}

/// By bin, the clustering that edges between blocks bring about: the expected share of pairs of a vertex' neighbours
/// that are adjacent without both edges to them, and theirs, lying inside one block. Such edges join bins k and l
/// with probability x ÷ (1 + x), x = outside_k · outside_l ÷ Σ outside, as in a random simple graph of these degrees.
std::vector<double> clustering_between(const std::vector<BinMeans>& bins) {
    const auto n = bins.size();
    double ends = 0;
    for (const auto& bin : bins) ends += bin.vertices * bin.outside();
    std::vector<double> edge(n * n), closing(n * n), of(n);
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t l = 0; l < n; ++l) {
            const double x = ends > 0 ? bins[k].outside() * bins[l].outside() / ends : 0;
            edge[k * n + l] = x / (1 + x);
        }
    // closing[k][l]: neighbours that vertices of k and l share, between blocks.
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t m = 0; m < n; ++m) {
            const double weight = edge[k * n + m] * bins[m].vertices;
            for (std::size_t l = 0; l < n; ++l) closing[k * n + l] += weight * edge[m * n + l];
        }
    for (std::size_t k = 0; k < n; ++k) {
        if (bins[k].degree < 2) continue;
        double closed = pairs(bins[k].inside) * (1 - bins[k].connectivity) * edge[k * n + k];
        for (std::size_t l = 0; l < n; ++l) {
            const double outside = bins[l].vertices * edge[k * n + l];
            closed += outside * (closing[k * n + l] + bins[l].inside * edge[k * n + l]) / 2;
            closed += bins[k].inside * outside * edge[k * n + l];
        }
        of[k] = std::min(1.0, closed / pairs(bins[k].degree));
    }
    return of;
}

/// The ρ of a block of s vertices of which one of degree d has (s−1 over 2)·ρ³ triangles in it: so much that, with
/// those between blocks, its vertices have the wanted clustering on average. For s = d + 1 and none between, ρ =
/// ∛c_d.
double connectivity_of(const AffinityBlocks& blocks, std::int64_t b, std::span<const std::int32_t> degrees,
                       std::span<const double> clustering, std::span<const double> between) {
    const double inside = pairs(static_cast<double>(blocks.size(b) - 1));
    double wanted = 0, complete = 0;
    for (auto i = blocks.first[usize(b)]; i < blocks.first[usize(b) + 1]; ++i) {
        const auto d = degrees[usize(i)];
        wanted += clustering[usize(d)] - between[usize(degree_bin(d))];
        complete += inside / pairs(d);
    }
    return complete > 0 ? std::cbrt(std::clamp(wanted / complete, 0.0, 1.0)) : 0;
}

}  // namespace

// What lies between blocks depends on what lies in them, and the other way round: a few rounds converge.
AffinityBlocks affinity_blocks(std::span<const std::int32_t> degrees, std::span<const double> clustering) {
    auto blocks = cut(degrees);
    std::vector<double> between(usize(degree_bin(std::max(degrees.back(), 1)) + 1));
    for (int round = 0; round < 8; ++round) {
#pragma omp parallel for schedule(dynamic, 64)
        for (std::int64_t b = 0; b < blocks.count(); ++b)
            blocks.connectivity[usize(b)] = connectivity_of(blocks, b, degrees, clustering, between);
        between = clustering_between(bin_means(blocks, degrees));
    }
    return blocks;
}

std::vector<std::int32_t> block_of_position(const AffinityBlocks& blocks, std::size_t positions) {
    std::vector<std::int32_t> of(positions, -1);
    for (std::int64_t b = 0; b < blocks.count(); ++b)
        std::fill(of.begin() + blocks.first[usize(b)], of.begin() + blocks.first[usize(b) + 1],
                  static_cast<std::int32_t>(b));
    return of;
}

namespace {

/// Calls edge(other, position) for the pairs of a position with those before it in its block that are edges.
template <class Edge>
void each_inside(const AffinityBlocks& blocks, std::int64_t block, std::int64_t position, std::uint64_t seed,
                 Edge edge) {
    const auto first = blocks.first[usize(block)];
    const double rho = blocks.connectivity[usize(block)];
    for (auto other = first; other < position; other += 4) {
        const auto words = draw(seed, Draw::graph, static_cast<std::uint64_t>(position),
                                static_cast<std::uint32_t>((other - first) / 4), DataDraw::block_edge);
        for (std::int64_t i = 0; i < std::min<std::int64_t>(4, position - other); ++i)
            if (unit_interval(words[usize(i)]) < rho) edge(other + i, position);
    }
}

}  // namespace

EdgeEnds draw_blocks(const AffinityBlocks& blocks, std::uint64_t seed) {
    const auto begin = blocks.first.front(), end = blocks.first.back();
    const auto of = block_of_position(blocks, usize(end));
    constexpr std::int64_t chunk = 512;
    const auto chunks = (end - begin + chunk - 1) / chunk;
    std::vector<EdgeEnds> drawn(usize(chunks));
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t c = 0; c < chunks; ++c)
        for (auto position = begin + c * chunk; position < std::min(begin + (c + 1) * chunk, end); ++position)
            each_inside(blocks, of[usize(position)], position, seed, [&](std::int64_t u, std::int64_t v) {
                drawn[usize(c)].source.push_back(static_cast<std::int32_t>(u));
                drawn[usize(c)].target.push_back(static_cast<std::int32_t>(v));
            });
    std::vector<std::int64_t> start(usize(chunks) + 1);
    for (std::size_t c = 0; c < usize(chunks); ++c) start[c + 1] = start[c] + std::ssize(drawn[c].source);
    EdgeEnds all{std::vector<std::int32_t>(usize(start.back())), std::vector<std::int32_t>(usize(start.back()))};
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t c = 0; c < chunks; ++c) {
        std::ranges::copy(drawn[usize(c)].source, all.source.begin() + start[usize(c)]);
        std::ranges::copy(drawn[usize(c)].target, all.target.begin() + start[usize(c)]);
        drawn[usize(c)] = {};
    }
    return all;
}

}  // namespace gnnbench
