#include <gnnbench/undirected.hpp>

#include <algorithm>

namespace gnnbench {

Transposed::Transposed(const GraphView& graph) : rows_(graph.columns()) {
    if (!rows_.indptr.empty() || graph.vertices() == 0) return;
    own_ = transpose_of({graph.indptr, graph.indices, {}});
    rows_ = own_.view();
}

std::vector<std::int64_t> row_nonzeros(const GraphView& graph) {
    std::vector<std::int64_t> weights(usize(graph.vertices()));
    for (std::size_t v = 0; v < weights.size(); ++v) {
        const auto row =
            graph.indices.subspan(usize(graph.indptr[v]), usize(graph.indptr[v + 1] - graph.indptr[v]));
        const bool diagonal = std::ranges::binary_search(row, static_cast<std::int32_t>(v));
        weights[v] = std::ssize(row) + (diagonal ? 0 : 1);
    }
    return weights;
}

}  // namespace gnnbench
