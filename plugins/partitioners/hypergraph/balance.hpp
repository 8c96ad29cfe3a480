#pragma once
#include <vector>

#include "hypergraph.hpp"

namespace gnnbench::hypergraph {

/// What a part may weigh: (1 + imbalance) · ⌈mean⌉, or, where whole rows don't pack so well, the heaviest part of
/// `pack`. Throws Unsupported where one row is heavier than (1 + imbalance) · ⌈mean⌉, with that row and the imbalance
/// that would do.
Weight part_limit(const Hypergraph& h, PartId parts, double imbalance);

/// Longest processing time first (Graham 1969): each vertex, heaviest first, to the lightest part.
std::vector<PartId> pack(const Hypergraph& h, PartId parts);

}  // namespace gnnbench::hypergraph
