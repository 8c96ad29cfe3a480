#pragma once
#include <cstddef>
#include <span>

#include "hypergraph/jet.hpp"
#include "partitioned.hpp"

namespace gnnbench::distributed {

/// As refine_jet() of `hypergraph`, over ranks; the same for any number of them. Collective.
std::size_t refine_jet(const Ranks& ranks, Partitioned& partition, Weight limit,
                       std::span<const hypergraph::JetRound> rounds, std::uint64_t seed);

}  // namespace gnnbench::distributed
