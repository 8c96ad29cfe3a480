#include <gnnbench/undirected.hpp>

#include <algorithm>

namespace gnnbench {

Transposed::Transposed(const GraphView& graph) : indptr_(graph.indptr), indices_(graph.indices) {
    if (graph.symmetric) return;
    own_indptr_.resize(usize(graph.vertices()) + 1);
    own_indices_.resize(graph.indices.size());
    for (const std::int32_t column : graph.indices) ++own_indptr_[usize(column) + 1];
    for (std::size_t v = 1; v < own_indptr_.size(); ++v) own_indptr_[v] += own_indptr_[v - 1];
    std::vector<std::int64_t> next(own_indptr_.begin(), own_indptr_.end() - 1);
    for (std::int64_t v = 0; v < graph.vertices(); ++v)
        for (const std::int32_t column : row_of(graph.indptr, graph.indices, v))
            own_indices_[usize(next[usize(column)]++)] = static_cast<std::int32_t>(v);
    indptr_ = own_indptr_;
    indices_ = own_indices_;
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
