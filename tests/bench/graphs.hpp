#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <gnnbench/matrix.hpp>

namespace gnnbench::bench {

/// A power law with communities, vertices in random order or community by community. Row v draws about degree · w_v neighbours, each in
/// proportion to w: from its own community with probability `inside`, else from the whole graph.
struct PowerLaw {
    std::int64_t vertices = 0;
    double average_degree = 0;  ///< of the draws; repeats are merged
    double exponent = 2.5;  ///< of the distribution of w, which is cut where it would pass `widest` times the mean
    double widest = 60;
    std::int64_t communities = 1;
    double inside = 0.5;
    std::uint64_t seed = 1;
    bool in_order = false;
};
Csr power_law(const PowerLaw& p);
/// The community of each of its vertices.
std::vector<std::int32_t> communities_of(const PowerLaw& p);

/// A matrix of the columns in each row, each once, in order; every value 1. Uses up `rows`.
Csr from_rows(std::vector<std::vector<std::int32_t>> rows);

/// A ∪ Aᵀ without the diagonal, every value 1.
Csr undirected(const Csr& a);

/// A side × side grid in natural order: each vertex with itself and its four neighbours.
Csr mesh(std::int64_t side);

}  // namespace gnnbench::bench
