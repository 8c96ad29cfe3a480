#pragma once
#include <cstdint>

#include "spec/setting.hpp"

namespace gnnbench {

/// A lower bound for any scheme on the device memory of the largest rank, in bytes: its share of the features (unless
/// they are sparse), of every layer's output, of the weights with gradients and optimizer state, and of the adjacency matrix at 2 bytes an
/// entry (column ids of a tile). A scheme's README states what it holds beyond that (receive buffers, replicas,
/// copies).
std::int64_t least_memory_bytes(const Cell& cell, const DatasetFacts& dataset);

}  // namespace gnnbench
