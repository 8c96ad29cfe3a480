#pragma once
#include <cstdint>
#include <vector>

#include <gnnbench/graph.hpp>
#include <gnnbench/undirected.hpp>

/// Orders of all vertices, as permutations of their ids. A partition's parts take them in that order
/// (Partition::order).

namespace gnnbench {

/// At random: Fisher and Yates', seeded.
std::vector<std::int32_t> random_order(std::int64_t vertices, std::uint64_t seed);

/// By descending number of entries in the vertex' row, then by id: rows of one length lie together.
std::vector<std::int32_t> degree_order(const GraphView& graph);

/// Breadth-first over the undirected graph, component by component. Each begins at a vertex far from others (George and
/// Liu, ACM TOMS 5 (1979)), the components in the order of their smallest ids.
std::vector<std::int32_t> breadth_first_order(const Undirected& graph);

/// Reverse Cuthill–McKee (ACM 1969; George 1971): the same, where a vertex' new neighbours follow by ascending degree,
/// and in the end reversed. Neighbours lie close together.
std::vector<std::int32_t> reverse_cuthill_mckee_order(const Undirected& graph);

}  // namespace gnnbench
