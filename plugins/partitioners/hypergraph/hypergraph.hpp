#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace gnnbench::hypergraph {

// Index spaces: vertices V = {0 … n−1} (rows of the matrix, or clusters of them), nets N = {0 … m−1} (columns
// or rows, or groups of them with the same pins), parts {0 … k−1}. A pin is an incidence (net, vertex).
using Id = std::uint32_t;
using PartId = std::int32_t;
using Weight = std::int64_t;     ///< of vertices and parts
using NetWeight = std::int32_t;  ///< at most twice the number of columns, also in sums over different nets

/// Both directions of the incidence, each in compressed rows.
struct Hypergraph {
    std::vector<std::int64_t> net_offsets;     ///< length nets + 1
    std::vector<Id> pins;                      ///< length pins; ascending in each net
    std::vector<std::int64_t> vertex_offsets;  ///< length vertices + 1
    std::vector<Id> nets;                      ///< length pins; ascending for each vertex
    std::vector<Weight> vertex_weight;         ///< length vertices
    std::vector<NetWeight> net_weight;         ///< length nets
    std::vector<Id> column;  ///< length nets: the vertex that sends the net; empty for merged nets
    Id first_row_net = 0;    ///< where `column` is filled: nets from this one on are sent in the backward product
    Weight total_weight = 0;

    Id vertex_count() const { return static_cast<Id>(vertex_weight.size()); }
    Id net_count() const { return static_cast<Id>(net_weight.size()); }
    std::int64_t pin_count() const { return static_cast<std::int64_t>(pins.size()); }
    Id net_size(Id net) const { return static_cast<Id>(net_offsets[net + 1] - net_offsets[net]); }
    std::span<const Id> pins_of(Id net) const { return {pins.data() + net_offsets[net], net_size(net)}; }
    std::span<const Id> nets_of(Id vertex) const {
        return {nets.data() + vertex_offsets[vertex],
                static_cast<std::size_t>(vertex_offsets[vertex + 1] - vertex_offsets[vertex])};
    }
};

/// Fills vertex_offsets and nets from net_offsets and pins.
void index_vertices(Hypergraph& h);

/// Names the vertices anew, new_of[v] for v, and the nets in the order of a vertex of theirs, so that what is near in
/// the hypergraph is near in memory where new_of says so. Frees `column`.
void reorder(Hypergraph& h, std::span<const Id> new_of);

/// Frees vertex_offsets and nets; index_vertices() brings them back.
void forget_vertex_index(Hypergraph& h);

}  // namespace gnnbench::hypergraph
