#include "partitioning/cases.hpp"

#include <algorithm>
#include <cmath>

#include <gnnbench/usize.hpp>

#include "graphs.hpp"

namespace gnnbench::bench {
namespace {

/// A ∪ Aᵀ without the diagonal: METIS cuts undirected graphs, so only on those are both sides given the same problem.
Csr undirected(const Csr& a) {
    std::vector<std::vector<std::int32_t>> rows(usize(a.rows));
    for (std::int64_t v = 0; v < a.rows; ++v)
        for (std::int64_t e = a.indptr[usize(v)]; e < a.indptr[usize(v) + 1]; ++e) {
            const std::int32_t u = a.indices[usize(e)];
            if (u == v) continue;
            rows[usize(v)].push_back(u);
            rows[usize(u)].push_back(static_cast<std::int32_t>(v));
        }
    Csr both;
    both.rows = both.cols = a.rows;
    both.indptr.assign(1, 0);
    for (auto& row : rows) {
        std::sort(row.begin(), row.end());
        row.erase(std::unique(row.begin(), row.end()), row.end());
        both.indices.insert(both.indices.end(), row.begin(), row.end());
        both.indptr.push_back(static_cast<std::int64_t>(both.indices.size()));
    }
    both.values.assign(both.indices.size(), 1);
    return both;
}

}  // namespace

std::vector<PartitioningCase> partitioning_cases(double scale) {
    const auto vertices = static_cast<std::int64_t>(200000 * scale);
    const Csr grid = mesh(static_cast<std::int64_t>(300 * std::sqrt(scale)));
    const Csr communities = undirected(power_law({.vertices = vertices,
                                                  .average_degree = 8,
                                                  .exponent = 2.5,
                                                  .widest = 100,
                                                  .communities = std::max<std::int64_t>(1, vertices / 200),
                                                  .inside = 0.7}));
    const Csr power = undirected(power_law({.vertices = vertices,
                                            .average_degree = 10,
                                            .exponent = 2.3,
                                            .widest = 300,
                                            .communities = 1,
                                            .inside = 0}));
    std::vector<PartitioningCase> cases;
    const auto add = [&](const char* name, const Csr& graph, Part parts, double goal) {
        if (graph.rows >= 32 * std::int64_t{parts}) cases.push_back({name, graph, parts, goal});
    };
    add("grid", grid, 8, 0);
    add("grid", grid, 64, 0.80);
    add("grid", grid, 512, 0.79);
    add("communities", communities, 8, 0.945);
    add("communities", communities, 64, 0.975);
    add("communities", communities, 512, 0.975);
    add("power law", power, 8, 0.865);
    add("power law", power, 64, 0.90);
    return cases;
}

}  // namespace gnnbench::bench
