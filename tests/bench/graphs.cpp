#include "graphs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace gnnbench::bench {
namespace {

/// SplitMix64 as a function of a counter.
std::uint64_t mix(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}
double unit(std::uint64_t word) { return (static_cast<double>(word >> 11) + 0.5) * 0x1p-53; }

double value_of(std::uint64_t row, std::uint64_t col) {
    return static_cast<double>(static_cast<float>(0.5 + unit(mix(row * 0x1000003 + col))));
}

/// Of vertex v before vertices are shuffled.
std::int64_t community_of(std::int64_t v, std::int64_t communities, std::int64_t vertices) {
    return v * communities / vertices;
}

/// Vertices before they are shuffled, grouped by community; vertex v stands in `slots` about w_v · per_vertex times.
struct Population {
    std::vector<std::int32_t> slots;
    std::vector<std::int64_t> first_slot;  ///< length communities + 1
    std::vector<double> weight;            ///< length vertices, mean 1
    std::int64_t community_of(std::int64_t v) const {
        return bench::community_of(v, static_cast<std::int64_t>(first_slot.size() - 1),
                                   static_cast<std::int64_t>(weight.size()));
    }
};

Population populate(const PowerLaw& p) {
    constexpr double per_vertex = 16;
    Population out;
    out.weight.resize(static_cast<std::size_t>(p.vertices));
    for (std::int64_t v = 0; v < p.vertices; ++v)
        out.weight[static_cast<std::size_t>(v)] = std::min(
            p.widest, std::pow(unit(mix(p.seed * 7919 + static_cast<std::uint64_t>(v))), -1 / (p.exponent - 1)));
    const double mean =
        std::accumulate(out.weight.begin(), out.weight.end(), 0.0) / static_cast<double>(p.vertices);
    out.first_slot.assign(static_cast<std::size_t>(p.communities) + 1, 0);
    for (std::int64_t v = 0; v < p.vertices; ++v) {
        double& w = out.weight[static_cast<std::size_t>(v)];
        w /= mean;
        const double copies = w * per_vertex;
        const auto whole = static_cast<std::int64_t>(copies + unit(mix(~static_cast<std::uint64_t>(v))));
        out.slots.insert(out.slots.end(), static_cast<std::size_t>(whole), static_cast<std::int32_t>(v));
        out.first_slot[static_cast<std::size_t>(out.community_of(v)) + 1] =
            static_cast<std::int64_t>(out.slots.size());
    }
    return out;
}

/// By vertex: its place among the rows.
std::vector<std::int32_t> places(const PowerLaw& p) {
    std::vector<std::int32_t> order(static_cast<std::size_t>(p.vertices));
    std::iota(order.begin(), order.end(), 0);
    if (p.in_order) return order;
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[mix(p.seed ^ mix(i)) % i]);
    return order;
}

}  // namespace

Csr power_law(const PowerLaw& p) {
    const Population people = populate(p);
    const std::vector<std::int32_t> name = places(p), who = [&] {
        std::vector<std::int32_t> inverse(name.size());
        for (std::size_t v = 0; v < name.size(); ++v)
            inverse[static_cast<std::size_t>(name[v])] = static_cast<std::int32_t>(v);
        return inverse;
    }();
    Csr a;
    a.rows = a.cols = p.vertices;
    std::vector<std::vector<std::int32_t>> rows(static_cast<std::size_t>(p.vertices));
#pragma omp parallel for schedule(dynamic, 256)
    for (std::int64_t r = 0; r < p.vertices; ++r) {
        const auto v = static_cast<std::size_t>(who[static_cast<std::size_t>(r)]);
        const auto home = static_cast<std::size_t>(people.community_of(static_cast<std::int64_t>(v)));
        const auto draws = static_cast<std::int64_t>(p.average_degree * people.weight[v] + 0.5);
        auto& row = rows[static_cast<std::size_t>(r)];
        row.reserve(static_cast<std::size_t>(draws) + 1);
        for (std::int64_t i = 0; i < draws; ++i) {
            const std::uint64_t word = mix(mix(p.seed + v) + static_cast<std::uint64_t>(i) * 2);
            const bool stays = unit(mix(word)) < p.inside;
            const std::int64_t first = stays ? people.first_slot[home] : 0;
            const std::int64_t last =
                stays ? people.first_slot[home + 1] : static_cast<std::int64_t>(people.slots.size());
            const auto at = static_cast<std::size_t>(first) + word % static_cast<std::uint64_t>(last - first);
            row.push_back(name[static_cast<std::size_t>(people.slots[at])]);
        }
        std::sort(row.begin(), row.end());
        row.erase(std::unique(row.begin(), row.end()), row.end());
    }
    a.indptr.resize(static_cast<std::size_t>(p.vertices) + 1);
    for (std::size_t r = 0; r < rows.size(); ++r)
        a.indptr[r + 1] = a.indptr[r] + static_cast<std::int64_t>(rows[r].size());
    a.indices.resize(static_cast<std::size_t>(a.indptr.back()));
    a.values.resize(a.indices.size());
#pragma omp parallel for schedule(dynamic, 1024)
    for (std::size_t r = 0; r < rows.size(); ++r) {
        auto at = static_cast<std::size_t>(a.indptr[r]);
        for (const std::int32_t c : rows[r]) {
            a.indices[at] = c;
            a.values[at++] = value_of(r, static_cast<std::uint64_t>(c));
        }
        std::vector<std::int32_t>().swap(rows[r]);
    }
    return a;
}

std::vector<std::int32_t> communities_of(const PowerLaw& p) {
    const std::vector<std::int32_t> name = places(p);
    std::vector<std::int32_t> out(name.size());
    for (std::int64_t v = 0; v < p.vertices; ++v)
        out[usize(name[usize(v)])] = static_cast<std::int32_t>(community_of(v, p.communities, p.vertices));
    return out;
}

Csr from_rows(std::vector<std::vector<std::int32_t>> rows) {
    Csr a;
    a.rows = a.cols = static_cast<std::int64_t>(rows.size());
    a.indptr.assign(1, 0);
    for (auto& row : rows) {
        std::sort(row.begin(), row.end());
        row.erase(std::unique(row.begin(), row.end()), row.end());
        a.indices.insert(a.indices.end(), row.begin(), row.end());
        a.indptr.push_back(static_cast<std::int64_t>(a.indices.size()));
    }
    a.values.assign(a.indices.size(), 1);
    return a;
}

Csr undirected(const Csr& a) {
    std::vector<std::vector<std::int32_t>> rows(usize(a.rows));
    for (std::int64_t v = 0; v < a.rows; ++v)
        for (std::int64_t e = a.indptr[usize(v)]; e < a.indptr[usize(v) + 1]; ++e) {
            const std::int32_t u = a.indices[usize(e)];
            if (u == v) continue;
            rows[usize(v)].push_back(u);
            rows[usize(u)].push_back(static_cast<std::int32_t>(v));
        }
    return from_rows(std::move(rows));
}

Csr mesh(std::int64_t side) {
    Csr a;
    a.rows = a.cols = side * side;
    for (std::int64_t y = 0; y < side; ++y)
        for (std::int64_t x = 0; x < side; ++x) {
            const std::int64_t v = y * side + x;
            const auto add = [&](bool there, std::int64_t u) {
                if (!there) return;
                a.indices.push_back(static_cast<std::int32_t>(u));
                a.values.push_back(value_of(static_cast<std::uint64_t>(v), static_cast<std::uint64_t>(u)));
            };
            add(y > 0, v - side);
            add(x > 0, v - 1);
            add(true, v);
            add(x + 1 < side, v + 1);
            add(y + 1 < side, v + side);
            a.indptr.push_back(static_cast<std::int64_t>(a.indices.size()));
        }
    return a;
}

}  // namespace gnnbench::bench
