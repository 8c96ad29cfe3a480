#pragma once
#include <cstdint>
#include <span>
#include <string>

#include <gnnbench/graph.hpp>

#include <data/raw_dataset.hpp>

namespace gnnbench {

inline constexpr std::int64_t most_splits = 10000;  // published sets have ten

/// Room for the masks of so many splits of n vertices, all of them in none.
void make_masks(RawDataset& data, std::int64_t splits, std::int64_t n, const std::string& what);

/// Puts the vertex into a mask of one split. Returns what is wrong with it ("vertex 7 is in the train and the test
/// mask"), or nothing.
std::string put_in_mask(std::span<Split> masks, std::int64_t vertex, Split mask);

}  // namespace gnnbench
