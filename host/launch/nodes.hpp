#pragma once
#include <algorithm>

namespace gnnbench {

/// Nodes of so many cores that these threads need to have one each.
constexpr int nodes_for(int threads, int cores) {
    const int there = std::max(1, cores);
    return std::max(1, (threads + there - 1) / there);
}

}  // namespace gnnbench
