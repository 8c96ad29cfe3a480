#include "cases.hpp"

#include <algorithm>
#include <cmath>

#include "graphs.hpp"

namespace gnnbench::bench {
namespace {

std::int64_t whole(double v) { return std::max<std::int64_t>(64, static_cast<std::int64_t>(v)); }

PowerLaw dense(const Options& o) {
    return {.vertices = whole(o.rows_of(233'000)),
            .average_degree = std::min(475.0, o.rows_of(475e3)),
            .exponent = 2.5,
            .widest = 60,
            .communities = whole(o.rows_of(50)) / 64 * 50 + 1};
}

PowerLaw sparse(const Options& o) {
    return {.vertices = whole(o.rows_of(2'400'000)),
            .average_degree = 52,
            .exponent = 2.5,
            .widest = 200,
            .communities = whole(o.rows_of(2400))};
}

const Case all[] = {
    {"dense", "Dense power law with communities, random vertex order", 5,
     [](const Options& o) { return power_law(dense(o)); },
     [](const Options& o) { return communities_of(dense(o)); }},
    {"sparse", "Sparse power law with communities, random vertex order", 1.7,
     [](const Options& o) { return power_law(sparse(o)); },
     [](const Options& o) { return communities_of(sparse(o)); }},
    {"mesh", "Mesh, natural order", 1.2, [](const Options& o) { return mesh(whole(1000 * std::sqrt(o.scale))); },
     [](const Options&) { return std::vector<std::int32_t>(); }},
};

}  // namespace

std::span<const Case> cases() { return all; }

}  // namespace gnnbench::bench
