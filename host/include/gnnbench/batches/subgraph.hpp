#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <gnnbench/graph.hpp>
#include <gnnbench/matrix.hpp>

namespace gnnbench {

/// The subgraph that some vertices of a graph induce: all edges between them. A vertex' local id is its position.
struct Subgraph {
    std::vector<GlobalId> vertices;       ///< ascending
    std::vector<std::int64_t> indptr{0};  ///< length vertices + 1
    std::vector<std::int32_t> indices;    ///< local ids, ascending in each row
    std::vector<float> weights;           ///< length edges, or empty: every weight is 1
    bool symmetric = false;

    GraphView view() const { return {indptr, indices, weights, symmetric}; }
};

/// Makes subgraphs of one graph. Holds 4 bytes a vertex, so that an edge takes one look-up; one for each thread.
class SubgraphMaker {
public:
    /// What `graph` views must outlive it.
    explicit SubgraphMaker(const GraphView& graph);
    /// `vertices` ascend, without repeats.
    Subgraph induced(std::vector<GlobalId> vertices);

private:
    GraphView graph_;
    std::vector<std::int32_t> local_;  ///< of each vertex; −1 outside a call
};

}  // namespace gnnbench
