#include "verify/connectivity.hpp"

#include <bit>
#include <vector>

#include <gnnbench/error.hpp>

namespace gnnbench::verify {

Connectivity count_connectivity(const GraphView& graph, std::span<const Part> part_of) {
    const auto n = static_cast<std::size_t>(graph.vertices());
    std::vector<std::uint64_t> in_column(n), in_row(n);  // bit p: part p has a nonzero there
    const auto bit = [&](std::size_t v) {
        require(part_of[v] < 64, "connectivity is counted for at most 64 parts");
        return std::uint64_t{1} << part_of[v];
    };
    for (std::size_t v = 0; v < n; ++v) in_column[v] = in_row[v] = bit(v);
    for (std::size_t v = 0; v < n; ++v)
        for (auto e = graph.indptr[v]; e < graph.indptr[v + 1]; ++e) {
            const auto u = static_cast<std::size_t>(graph.indices[static_cast<std::size_t>(e)]);
            in_column[u] |= bit(v);
            in_row[v] |= bit(u);
        }
    Connectivity sum;
    for (std::size_t v = 0; v < n; ++v) {
        sum.columns += std::popcount(in_column[v]) - 1;
        sum.rows += std::popcount(in_row[v]) - 1;
    }
    return sum;
}

}  // namespace gnnbench::verify
