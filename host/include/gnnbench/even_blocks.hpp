#pragma once
#include <cstdint>
#include <vector>

/// The even blocks that vertices and matrices are cut into.

namespace gnnbench {

// {0 … n−1} cut into `blocks` runs as equal as possible: the first n mod blocks of them are one longer. Block i is
// {block_begin(n, blocks, i) … block_begin(n, blocks, i + 1) − 1}; blocks beyond n are empty.
constexpr std::int64_t block_size(std::int64_t n, int blocks, int i) {
    return n / blocks + (i < n % blocks ? 1 : 0);
}
constexpr std::int64_t block_begin(std::int64_t n, int blocks, int i) {
    return n / blocks * i + (i < n % blocks ? i : n % blocks);
}
/// The longest block.
constexpr std::int64_t largest_block(std::int64_t n, int blocks) { return block_size(n, blocks, 0); }
/// block_size of every block, in order.
inline std::vector<std::int64_t> block_sizes(std::int64_t n, int blocks) {
    std::vector<std::int64_t> sizes;
    for (int i = 0; i < blocks; ++i) sizes.push_back(block_size(n, blocks, i));
    return sizes;
}

}  // namespace gnnbench
