#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <gnnbench/graph.hpp>
#include <gnnbench/partition.hpp>

#include "incidence.hpp"
#include "halo.hpp"

namespace gnnbench::distributed {

/// A rank's share of a hypergraph: its vertices with their nets, its nets with their pins.
struct Level {
    Halo vertices, nets;
    /// Of own vertices: local ids of nets; of own nets: local ids of vertices. One and the same where a graph is undirected
    /// and its nets are those of its columns.
    std::shared_ptr<const Incidence> nets_of, pins_of;
    std::vector<Weight> vertex_weight;  ///< of own vertices
    std::vector<NetWeight> net_weight;  ///< of own nets and ghosts
    std::vector<Id> net_size;           ///< of own nets and ghosts: pins
    Weight total_weight = 0;
    std::int64_t pins = 0;  ///< of all ranks
    bool mesh = false;      ///< nets are of about one size, and so are vertices
};

/// The column nets of Â, as `hypergraph` has them, of the rows of this rank. Collective.
Level column_nets(const Ranks& ranks, const GraphView& graph, bool unit_weights);

/// Completes a level that has its vertices' ranges and weights, and its own nets' pins by global id. Collective.
struct OwnNets {
    std::vector<std::int64_t> offsets{0};
    std::vector<Id> pins;
    std::vector<NetWeight> weight;
};
Level level_of(const Ranks& ranks, std::vector<std::int64_t> vertex_first, std::vector<Weight> vertex_weight,
               OwnNets nets);

}  // namespace gnnbench::distributed
