#include "run/schedule.hpp"

#include <map>
#include <utility>

#include <gnnbench/random.hpp>

namespace gnnbench {

std::vector<ScheduledTrial> in_random_blocks(const std::vector<std::vector<std::int64_t>>& missing,
                                             std::uint64_t seed) {
    std::map<std::int64_t, std::vector<ScheduledTrial>> blocks;
    for (std::size_t cell = 0; cell < missing.size(); ++cell)
        for (std::int64_t index : missing[cell]) blocks[index].push_back({cell, index});
    std::vector<ScheduledTrial> order;
    for (auto& [index, block] : blocks) {
        // A stream of its own per block: adding trials does not reorder those before.
        RandomStream random(seed, Draw::sample, static_cast<std::uint32_t>(index));
        for (std::size_t i = block.size(); i > 1; --i) std::swap(block[i - 1], block[random.below(i)]);
        order.insert(order.end(), block.begin(), block.end());
    }
    return order;
}

}  // namespace gnnbench
