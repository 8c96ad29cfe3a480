#pragma once
#include <cstdint>
#include <vector>

#include <gnnbench/batches/source.hpp>
#include <gnnbench/graph.hpp>

#include "hypergraph.hpp"

namespace gnnbench::stochastic {

/// The nets of many batches over the vertices of the whole graph: H = (V, ∪ N'_i) of Algorithm 3. Net j of a batch
/// has the rows of the batch with an entry in column j, and j. Nets of one pin, which cost nothing under any
/// partition, are left out; nets with the same pins are one with the sum of their weights.
struct MergedNets {
    hypergraph::Hypergraph hypergraph;  ///< vertices: the graph's, with the weights given
    std::int64_t nets = 0;              ///< drawn, those of one pin included
    std::vector<bool> seen;             ///< length edges: whether a batch has the entry, off the diagonal
};

/// What a sample has at least.
struct SampleSize {
    std::int64_t batches = 0;
    std::int64_t nets = 0;  ///< those of one pin included
};

/// Lines 1 to 3 of Algorithm 3: items 0, 1, … of `source`, until there are enough. Throws DataError where 31 bits do
/// not number the nets.
MergedNets merge_nets(const GraphView& graph, const BatchSource& source, const SampleSize& enough,
                      std::vector<hypergraph::Weight> vertex_weight);

/// The sample, and the expectation where it says nothing: each off-diagonal entry (i, j) that no batch has is a net
/// {i, j}, as one batch would have made it. A batch that has few of the vertices moves row j for i with the same
/// probability as for any other entry, and rarely for two rows of a part at once.
hypergraph::Hypergraph with_expected_nets(const GraphView& graph, MergedNets sample);

}  // namespace gnnbench::stochastic
