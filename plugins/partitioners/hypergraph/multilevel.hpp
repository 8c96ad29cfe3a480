#pragma once
#include <cstdint>
#include <vector>

#include "hypergraph.hpp"
#include "jet.hpp"

namespace gnnbench::hypergraph {

struct Preset {
    Id vertices_per_part = 20;  ///< of the coarsest hypergraph
    Id net_size = 64;           ///< larger nets are not looked at in clustering
    int tries = 8;              ///< starts of each bisection
    int cycles = 0;  ///< times the result is coarsened again, inside its parts, and refined on the way back
    std::vector<JetRound> meshes, networks;  ///< refinement where nets are of about one size, and where not
};
inline const Preset fast{.meshes = {{0.25, 0.05, 12}, {0.1, 0, 6}, {0, 0, 6}},
                         .networks = {{0.75, 0.05, 3}, {0.25, 0.05, 3}, {0, 0, 3}}};
inline const Preset quality{.tries = 16,
                            .cycles = 2,
                            .meshes = {{0.25, 0.05, 20}, {0.1, 0, 20}, {0, 0, 20}},
                            .networks = {{0.75, 0.05, 10}, {0.25, 0.05, 16}, {0.1, 0.03, 10}, {0, 0, 8}}};

/// A partition into `parts` of at most `limit`, which is at least what balance.hpp's pack() gets. Uses up the
/// hypergraph: give a copy where it is needed afterwards.
std::vector<PartId> partition_multilevel(Hypergraph h, PartId parts, Weight limit, const Preset& preset,
                                         std::uint64_t seed);

}  // namespace gnnbench::hypergraph
