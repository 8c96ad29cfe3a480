#pragma once
#include <cstdint>
#include <vector>

#include "hypergraph.hpp"
#include "jet.hpp"

namespace gnnbench::hypergraph {

struct Preset {
    Id vertices_per_part = 20;  ///< of the coarsest hypergraph
    double shrink = 3;          ///< at most, from one level to the next
    int clustering_rounds = 1;
    Id net_size = 64;  ///< larger nets are not looked at in clustering
    int tries = 8;     ///< starts of each bisection
    int cycles = 0;    ///< times the result is coarsened again, inside its parts, and refined on the way back
    std::vector<JetRound> jet = {{0.25, 0.02, 8}, {0, 0, 8}};
};
inline const Preset fast{};
inline const Preset quality{
    .tries = 16, .cycles = 2, .jet = {{0.75, 0.02, 12}, {0.25, 0.02, 12}, {0.1, 0, 12}, {0, 0, 12}}};

/// A partition into `parts` of at most `limit`, which is at least what balance.hpp's pack() gets.
std::vector<PartId> partition_multilevel(const Hypergraph& h, PartId parts, Weight limit, const Preset& preset,
                                         std::uint64_t seed);

}  // namespace gnnbench::hypergraph
