#include "symmetric.hpp"

#include <algorithm>
#include <span>
#include <string>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

/// The rows of Aᵀ, ascending in each row: row v lists the rows of A that hold v.
struct Transposed {
    std::vector<std::int64_t> indptr;   ///< length vertices + 1
    std::vector<std::int32_t> indices;  ///< length edges

    std::span<const std::int32_t> row(std::int64_t v) const {
        const auto i = usize(v);
        return std::span(indices).subspan(usize(indptr[i]), usize(indptr[i + 1] - indptr[i]));
    }
};

std::span<const std::int32_t> row(const GraphView& graph, std::int64_t v) {
    const auto i = usize(v);
    return graph.indices.subspan(usize(graph.indptr[i]), usize(graph.indptr[i + 1] - graph.indptr[i]));
}

Transposed transposed(const GraphView& graph) {
    Transposed t{std::vector<std::int64_t>(usize(graph.vertices()) + 1),
                 std::vector<std::int32_t>(graph.indices.size())};
    for (std::int32_t column : graph.indices) ++t.indptr[usize(column) + 1];
    for (std::size_t v = 1; v < t.indptr.size(); ++v) t.indptr[v] += t.indptr[v - 1];

    std::vector<std::int64_t> next(t.indptr.begin(), t.indptr.end() - 1);
    for (std::int64_t v = 0; v < graph.vertices(); ++v)
        for (std::int32_t column : row(graph, v))
            t.indices[usize(next[usize(column)]++)] = static_cast<std::int32_t>(v);
    return t;
}

/// Calls visit(u) once for each u ≠ v in the union of two ascending rows.
void visit_union(std::span<const std::int32_t> a, std::span<const std::int32_t> b, std::int64_t v, auto&& visit) {
    std::size_t i = 0, j = 0;
    while (i < a.size() || j < b.size()) {
        const std::int32_t u = j == b.size() || (i < a.size() && a[i] <= b[j]) ? a[i] : b[j];
        if (i < a.size() && a[i] == u) ++i;
        if (j < b.size() && b[j] == u) ++j;
        if (u != v) visit(u);
    }
}

}  // namespace

MetisGraph symmetrised(const GraphView& graph) {
    const Transposed other = transposed(graph);
    MetisGraph result;
    result.offsets.reserve(usize(graph.vertices()) + 1);
    result.offsets.push_back(0);
    std::int64_t entries = 0;
    for (std::int64_t v = 0; v < graph.vertices(); ++v) {
        visit_union(row(graph, v), other.row(v), v, [&](std::int32_t) { ++entries; });
        if (entries > metis_limit)
            throw Unsupported("metis counts entries in 32 bits: the graph made symmetric has more than " +
                              std::to_string(metis_limit) + " of them");
        result.offsets.push_back(static_cast<idx_t>(entries));
    }
    result.neighbours.reserve(usize(entries));
    for (std::int64_t v = 0; v < graph.vertices(); ++v)
        visit_union(row(graph, v), other.row(v), v, [&](std::int32_t u) { result.neighbours.push_back(u); });
    return result;
}

}  // namespace gnnbench
