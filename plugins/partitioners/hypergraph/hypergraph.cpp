// The column-net model: Ü. V. Çatalyürek and C. Aykanat, "Hypergraph-Partitioning-Based Decomposition for Parallel
// Sparse-Matrix Vector Multiplication", IEEE Trans. Parallel Distrib. Syst. 10 (1999).
#include "hypergraph.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/undirected.hpp>

namespace gnnbench::hypergraph {
namespace {

std::span<const std::int32_t> row_of(const GraphView& graph, Id v) {
    return graph.indices.subspan(static_cast<std::size_t>(graph.indptr[v]),
                                 static_cast<std::size_t>(graph.indptr[v + 1] - graph.indptr[v]));
}

bool stores_diagonal(const GraphView& graph, Id v) {
    const auto row = row_of(graph, v);
    return std::binary_search(row.begin(), row.end(), static_cast<std::int32_t>(v));
}

/// Pins of every column's net, itself included: length vertices.
std::vector<std::int64_t> net_sizes(const GraphView& graph, const std::vector<char>& diagonal) {
    std::vector<std::int64_t> size(diagonal.size());
    for (std::size_t v = 0; v < size.size(); ++v) size[v] = diagonal[v] ? 0 : 1;
    for (const std::int32_t column : graph.indices) ++size[static_cast<std::size_t>(column)];
    return size;
}

}  // namespace

Hypergraph column_nets(const GraphView& graph, bool unit_weights) {
    if (graph.vertices() >= std::numeric_limits<std::int32_t>::max())
        throw DataError(fmt::format("hypergraph numbers vertices in 32 bits: {} are too many", graph.vertices()));
    const auto n = static_cast<Id>(graph.vertices());
    std::vector<char> diagonal(n);
#pragma omp parallel for schedule(static)
    for (Id v = 0; v < n; ++v) diagonal[v] = stores_diagonal(graph, v);

    Hypergraph h;
    h.vertex_weight = unit_weights ? std::vector<Weight>(n, 1) : row_nonzeros(graph);
    h.total_weight = std::accumulate(h.vertex_weight.begin(), h.vertex_weight.end(), Weight{0});

    // next[j]: where the next pin of column j's net goes; −1 for nets of one pin.
    std::vector<std::int64_t> next = net_sizes(graph, diagonal);
    std::int64_t pins = 0;
    h.net_offsets.reserve(n + std::size_t{1});
    h.net_offsets.push_back(0);
    for (Id v = 0; v < n; ++v) {
        const std::int64_t size = next[v];
        next[v] = size > 1 ? pins : -1;
        if (size <= 1) continue;
        h.net_offsets.push_back(pins += size);
        h.column.push_back(v);
    }
    h.net_weight.assign(h.net_offsets.size() - 1, 1);
    h.pins.resize(static_cast<std::size_t>(pins));
    const auto add_pin = [&](std::size_t column, Id v) {
        if (next[column] >= 0) h.pins[static_cast<std::size_t>(next[column]++)] = v;
    };
    for (Id v = 0; v < n; ++v) {
        if (!diagonal[v]) add_pin(v, v);
        for (const std::int32_t column : row_of(graph, v)) add_pin(static_cast<std::size_t>(column), v);
    }
    index_vertices(h);
    return h;
}

void index_vertices(Hypergraph& h) {
    const Id n = h.vertex_count(), m = h.net_count();
    h.vertex_offsets.assign(n + std::size_t{1}, 0);
    for (const Id pin : h.pins) ++h.vertex_offsets[pin + std::size_t{1}];
    std::partial_sum(h.vertex_offsets.begin(), h.vertex_offsets.end(), h.vertex_offsets.begin());
    h.nets.resize(h.pins.size());
    // Counts each vertex' offset up to the next one's, so that all lie one place too far to the left afterwards.
    for (Id net = 0; net < m; ++net)
        for (const Id pin : h.pins_of(net)) h.nets[static_cast<std::size_t>(h.vertex_offsets[pin]++)] = net;
    std::move_backward(h.vertex_offsets.begin(), h.vertex_offsets.end() - 1, h.vertex_offsets.end());
    h.vertex_offsets[0] = 0;
}

void reorder(Hypergraph& h, std::span<const Id> new_of) {
    const Id n = h.vertex_count(), m = h.net_count();
    std::vector<Id> old_of(n);
    for (Id v = 0; v < n; ++v) old_of[new_of[v]] = v;
    {
        std::vector<Weight> weight(n);
        for (Id v = 0; v < n; ++v) weight[v] = h.vertex_weight[old_of[v]];
        h.vertex_weight = std::move(weight);
    }
    // Nets by the new name of their column, or of a pin: sorted by counting.
    const auto key = [&](Id net) { return new_of[h.column.empty() ? h.pins_of(net).front() : h.column[net]]; };
    std::vector<Id> first(n + std::size_t{1}), new_net(m);
    for (Id net = 0; net < m; ++net) ++first[key(net) + std::size_t{1}];
    std::partial_sum(first.begin(), first.end(), first.begin());
    for (Id net = 0; net < m; ++net) new_net[net] = first[key(net)]++;
    h.column = {};

    std::vector<std::int64_t> next(m + std::size_t{1});
    std::vector<NetWeight> weight(m);
    for (Id net = 0; net < m; ++net) {
        next[new_net[net] + std::size_t{1}] = h.net_size(net);
        weight[new_net[net]] = h.net_weight[net];
    }
    std::partial_sum(next.begin(), next.end(), next.begin());
    h.net_weight = std::move(weight);
    h.net_offsets = next;
    // Every vertex in turn is appended to its nets.
    for (Id v = 0; v < n; ++v)
        for (const Id net : h.nets_of(old_of[v])) h.pins[static_cast<std::size_t>(next[new_net[net]]++)] = v;
    next = {};
    index_vertices(h);
}

void forget_vertex_index(Hypergraph& h) {
    h.vertex_offsets = {};
    h.nets = {};
}

}  // namespace gnnbench::hypergraph
