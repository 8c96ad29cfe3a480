#pragma once
#include <cstdint>
#include <vector>

#include <gnnbench/graph.hpp>

#include "incidence.hpp"
#include "ranks.hpp"

namespace gnnbench::distributed {

/// From `lists` (list i is global id own_first + i, members are global ids), the lists of the members that this rank owns,
/// ascending. Rank r owns {first[r] … first[r+1] − 1}. Collective.
Incidence turned(const Ranks& ranks, const Incidence& lists, Id own_first, const std::vector<std::int64_t>& first);

/// Where each rank's rows of a graph begin: length ranks + 1.
std::vector<std::int64_t> first_rows(const Ranks& ranks, const GraphView& graph);

/// This rank's rows by global id, each with its diagonal.
Incidence rows_with_diagonal(const Ranks& ranks, const GraphView& graph);

}  // namespace gnnbench::distributed
