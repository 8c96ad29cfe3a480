#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include <gnnbench/graph.hpp>

namespace gnnbench {

/// Labels from degrees, for graphs that have none, as Plexus' thesis makes them ("based on the distribution of node
/// degrees", A. K. Ranjan, University of Maryland, 2025, section 6.2) in the way of its authors' program (hpcgroup/plexus at
/// 90b1367, `preprocess_graph`): vertices in ascending order of their degrees are cut into `classes` even blocks, and block c
/// has label c. Vertices of one degree, whose order that program leaves open, are in order of their ids. A degree counts the
/// entries of a vertex' row but for its self-loop.

/// each(take) calls take(degree) for every vertex in order of their ids, and is called twice; label(c) is called as often in
/// the same order. Takes memory by the number of different degrees.
void label_by_degree(std::int32_t classes,
                     const std::function<void(const std::function<void(std::int64_t)>& take)>& each,
                     const std::function<void(std::int32_t)>& label);

/// Of a graph in memory: length vertices.
std::vector<std::int32_t> degree_labels(const GraphView& graph, std::int32_t classes);

}  // namespace gnnbench
