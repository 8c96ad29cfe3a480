#include "partitioning/kinds.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include <gnnbench/usize.hpp>

#include "graphs.hpp"

namespace gnnbench::bench {
namespace {

using Edges = std::vector<std::pair<std::int64_t, std::int64_t>>;

std::int64_t below(std::mt19937_64& random, std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
}
bool happens(std::mt19937_64& random, double probability) {
    return std::uniform_real_distribution<double>()(random) < probability;
}

/// Of n vertices, which get their numbers at random.
Csr undirected_at_random(std::int64_t n, const Edges& edges, std::mt19937_64& random) {
    std::vector<std::int32_t> name(usize(n));
    for (std::int64_t v = 0; v < n; ++v) name[usize(v)] = static_cast<std::int32_t>(v);
    std::shuffle(name.begin(), name.end(), random);
    std::vector<std::vector<std::int32_t>> rows(usize(n));
    for (const auto& [u, v] : edges) {
        rows[usize(name[usize(u)])].push_back(name[usize(v)]);
        rows[usize(name[usize(v)])].push_back(name[usize(u)]);
    }
    return from_rows(std::move(rows));
}

}  // namespace

Csr web(const Web& w) {
    std::mt19937_64 random(w.seed);
    std::vector<std::vector<std::int32_t>> links(usize(w.pages));
    std::int64_t first = 0, last = 0;  // of the host
    const auto page_like = [&](std::int64_t u) {
        return u > first && happens(random, w.within) ? first + below(random, u - first)
                                                      : below(random, std::max<std::int64_t>(u, 1));
    };
    for (std::int64_t u = 0; u < w.pages; ++u) {
        if (u == last) {  // Pareto with exponent 2: half of its mean at least
            first = u;
            const double size = w.mean_host / 2 / std::sqrt(1 - std::uniform_real_distribution<double>()(random));
            last = std::min(w.pages, u + 1 + static_cast<std::int64_t>(std::min(size, 50 * w.mean_host)));
        }
        const auto& prototype = links[usize(page_like(u))];
        auto& own = links[usize(u)];
        for (std::int64_t i = 0; i < w.links; ++i) {
            const bool copies = i < static_cast<std::int64_t>(prototype.size()) && happens(random, 0.5);
            const std::int64_t target = copies                      ? prototype[usize(i)]
                                        : happens(random, w.within) ? first + below(random, last - first)
                                                                    : below(random, w.pages);
            if (target != u) own.push_back(static_cast<std::int32_t>(target));
        }
    }
    return from_rows(std::move(links));
}

Csr roads(const Roads& r) {
    std::mt19937_64 random(r.seed);
    std::geometric_distribution<std::int64_t> between(1 / (1 + r.along));
    std::int64_t n = r.side * r.side;
    Edges edges;
    const auto street = [&](std::int64_t from, std::int64_t to) {
        if (happens(random, r.missing)) return;
        for (std::int64_t left = between(random); left > 0; --left) {
            edges.emplace_back(from, n);
            from = n++;
        }
        edges.emplace_back(from, to);
    };
    for (std::int64_t y = 0; y < r.side; ++y)
        for (std::int64_t x = 0; x < r.side; ++x) {
            const std::int64_t v = y * r.side + x;
            if (x + 1 < r.side) street(v, v + 1);
            if (y + 1 < r.side) street(v, v + r.side);
        }
    return undirected_at_random(n, edges, random);
}

Csr hexagons(std::int64_t side, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    Edges edges;
    // A wall of bricks: rows of a grid, joined at every second vertex, by turns.
    for (std::int64_t y = 0; y < side; ++y)
        for (std::int64_t x = 0; x < side; ++x) {
            const std::int64_t v = y * side + x;
            if (x + 1 < side) edges.emplace_back(v, v + 1);
            if (y + 1 < side && (x + y) % 2 == 0) edges.emplace_back(v, v + side);
        }
    return undirected_at_random(side * side, edges, random);
}

}  // namespace gnnbench::bench
