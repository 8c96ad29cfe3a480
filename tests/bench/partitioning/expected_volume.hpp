#pragma once
#include <span>

#include <gnnbench/graph.hpp>
#include <gnnbench/partition.hpp>

namespace gnnbench::bench {

/// The rows that a forward product is expected to move for a batch that has each vertex with probability q,
/// independently: Σ_j q Σ_{p ≠ owner(j)} (1 − (1 − q)^Φ(j, p)), where Φ(j, p) counts the rows of part p with an entry
/// in column j. Close to what uniform samples without replacement move, and near q² times the directed edge cut where
/// q is small.
double expected_volume(const GraphView& graph, std::span<const Part> part_of, Part parts, double q);

}  // namespace gnnbench::bench
