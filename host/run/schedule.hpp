#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gnnbench {

/// One trial of a sweep: which cell, and which of the cell's trials.
struct ScheduledTrial {
    std::size_t cell = 0;
    std::int64_t index = 0;  ///< also its randomised block
    auto operator<=>(const ScheduledTrial&) const = default;
};

/// Randomised blocks: every cell's trial 0 in random order, then every cell's trial 1, and so on, so that a
/// machine that slows down slows all cells. missing[c]: the trial numbers that cell c still lacks.
std::vector<ScheduledTrial> in_random_blocks(const std::vector<std::vector<std::int64_t>>& missing,
                                             std::uint64_t seed);

}  // namespace gnnbench
