#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <data/generators/stubs.hpp>

namespace gnnbench {

/// BTER's affinity blocks: vertices of degree 2 and more in ascending order of degree, cut into runs of d + 1, where
/// d is a run's smallest degree; inside block b every pair is an edge with probability connectivity[b].
struct AffinityBlocks {
    std::vector<std::int64_t> first;   ///< blocks + 1 positions in the ascending degrees
    std::vector<double> connectivity;  ///< length blocks

    std::int64_t count() const { return static_cast<std::int64_t>(connectivity.size()); }
    std::int64_t size(std::int64_t block) const;
};

/// `degrees`: ascending. `clustering`: element d, wanted of vertices of degree d.
AffinityBlocks affinity_blocks(std::span<const std::int32_t> degrees, std::span<const double> clustering);

/// Element i: the block of position i, −1 for none.
std::vector<std::int32_t> block_of_position(const AffinityBlocks& blocks, std::size_t positions);

/// Every block as an Erdős–Rényi graph, drawn pair by pair; ends are positions. On all threads; the result does not
/// depend on their number.
EdgeEnds draw_blocks(const AffinityBlocks& blocks, std::uint64_t seed);

}  // namespace gnnbench
