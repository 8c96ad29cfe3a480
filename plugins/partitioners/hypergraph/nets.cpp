// The column-net and row-net models: Ü. V. Çatalyürek and C. Aykanat, "Hypergraph-Partitioning-Based Decomposition for
// Parallel Sparse-Matrix Vector Multiplication", IEEE Trans. Parallel Distrib. Syst. 10 (1999).
#include "nets.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/undirected.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench::hypergraph {
namespace {

std::span<const std::int32_t> row_of(const GraphView& graph, Id v) {
    return graph.indices.subspan(usize(graph.indptr[v]), usize(graph.indptr[v + 1] - graph.indptr[v]));
}

/// Whether each vertex' row stores its diagonal.
std::vector<char> stored_diagonals(const GraphView& graph) {
    const auto n = static_cast<Id>(graph.vertices());
    std::vector<char> stored(n);
#pragma omp parallel for schedule(static)
    for (Id v = 0; v < n; ++v) {
        const auto row = row_of(graph, v);
        stored[v] = std::binary_search(row.begin(), row.end(), static_cast<std::int32_t>(v));
    }
    return stored;
}

/// Pins of every column's net, itself included: length vertices.
std::vector<std::int64_t> net_sizes(const GraphView& graph, const std::vector<char>& diagonal) {
    std::vector<std::int64_t> size(diagonal.size());
    for (std::size_t v = 0; v < size.size(); ++v) size[v] = diagonal[v] ? 0 : 1;
    for (const std::int32_t column : graph.indices) ++size[usize(column)];
    return size;
}

Hypergraph vertices_alone(const GraphView& graph, bool unit_weights) {
    if (graph.vertices() >= std::numeric_limits<std::int32_t>::max() / 2)
        throw DataError(fmt::format("hypergraph counts two nets a vertex in 31 bits: {} vertices are too many",
                                    graph.vertices()));
    Hypergraph h;
    h.vertex_weight = unit_weights ? std::vector<Weight>(usize(graph.vertices()), 1) : row_nonzeros(graph);
    h.total_weight = std::accumulate(h.vertex_weight.begin(), h.vertex_weight.end(), Weight{0});
    h.net_offsets.push_back(0);
    return h;
}

/// Appends the nets of columns; the vertices' index is not filled.
void add_column_nets(Hypergraph& h, const GraphView& graph, const std::vector<char>& diagonal) {
    const Id n = h.vertex_count();
    // next[j]: where the next pin of column j's net goes; −1 for nets of one pin.
    std::vector<std::int64_t> next = net_sizes(graph, diagonal);
    std::int64_t pins = 0;
    h.net_offsets.reserve(n + std::size_t{1});
    for (Id v = 0; v < n; ++v) {
        const std::int64_t size = next[v];
        next[v] = size > 1 ? pins : -1;
        if (size <= 1) continue;
        h.net_offsets.push_back(pins += size);
        h.column.push_back(v);
    }
    h.net_weight.assign(h.column.size(), 1);
    h.pins.resize(usize(pins));
    const auto add_pin = [&](std::size_t column, Id v) {
        if (next[column] >= 0) h.pins[usize(next[column]++)] = v;
    };
    for (Id v = 0; v < n; ++v) {
        if (!diagonal[v]) add_pin(v, v);
        for (const std::int32_t column : row_of(graph, v)) add_pin(usize(column), v);
    }
}

/// Appends the pins of v's row and v itself, ascending.
void append_row(std::vector<Id>& pins, const GraphView& graph, Id v, bool diagonal) {
    bool own_added = diagonal;
    for (const std::int32_t column : row_of(graph, v)) {
        if (!own_added && column > static_cast<std::int32_t>(v)) pins.push_back(v), own_added = true;
        pins.push_back(static_cast<Id>(column));
    }
    if (!own_added) pins.push_back(v);
}

/// The net of each vertex' column where its row's has the same pins; `apart` elsewhere.
constexpr Id apart = ~Id{0};
std::vector<Id> same_nets(const Hypergraph& columns, const GraphView& graph, const std::vector<char>& diagonal) {
    std::vector<Id> same(columns.vertex_count(), apart), pins;
    for (Id net = 0; net < columns.net_count(); ++net) {
        const Id v = columns.column[net];
        if (columns.net_size(net) != row_of(graph, v).size() + !diagonal[v]) continue;
        pins.clear();
        append_row(pins, graph, v, diagonal[v]);
        if (std::ranges::equal(pins, columns.pins_of(net))) same[v] = net;
    }
    return same;
}

/// Appends the nets of rows; `same` from same_nets(): where a vertex' two nets are one, that weighs 2.
void add_row_nets(Hypergraph& h, const GraphView& graph, const std::vector<char>& diagonal,
                  const std::vector<Id>& same) {
    const Id n = h.vertex_count();
    std::int64_t pins = h.pin_count();
    for (Id v = 0; v < n; ++v)
        if (same[v] == apart) pins += std::ssize(row_of(graph, v)) + !diagonal[v];
    h.pins.reserve(usize(pins));
    for (Id v = 0; v < n; ++v) {
        if (same[v] != apart) {
            h.net_weight[same[v]] = 2;
            continue;
        }
        const std::size_t first = h.pins.size();
        append_row(h.pins, graph, v, diagonal[v]);
        if (h.pins.size() - first < 2) {
            h.pins.resize(first);
            continue;
        }
        h.net_offsets.push_back(h.pin_count());
        h.net_weight.push_back(1);
        h.column.push_back(v);
    }
}

Hypergraph with_nets(const GraphView& graph, Nets nets, bool unit_weights, bool separate) {
    Hypergraph h = vertices_alone(graph, unit_weights);
    const std::vector<char> diagonal = stored_diagonals(graph);
    add_column_nets(h, graph, diagonal);
    h.first_row_net = h.net_count();
    if (nets != Nets::columns) {
        std::vector<Id> same = same_nets(h, graph, diagonal);
        const auto shared = std::ranges::count_if(same, [](Id net) { return net != apart; });
        const bool undirected = shared == h.net_count();
        if (!undirected) {
            if (nets == Nets::rows) {
                h.net_offsets = {0};
                h.net_weight = {}, h.column = {}, h.pins = {};
                h.first_row_net = 0;
            }
            if (nets == Nets::rows || separate) std::ranges::fill(same, apart);
            add_row_nets(h, graph, diagonal, same);
        }
    }
    index_vertices(h);
    return h;
}

}  // namespace

Hypergraph column_nets(const GraphView& graph, bool unit_weights) {
    return with_nets(graph, Nets::columns, unit_weights, false);
}

Hypergraph product_nets(const GraphView& graph, Nets nets, bool unit_weights) {
    return with_nets(graph, nets, unit_weights, false);
}

Hypergraph separate_product_nets(const GraphView& graph, Nets nets, bool unit_weights) {
    return with_nets(graph, nets, unit_weights, true);
}

}  // namespace gnnbench::hypergraph
