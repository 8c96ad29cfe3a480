#pragma once
#include <cstdint>

#include "spec/setting.hpp"

namespace gnnbench {

/// Bytes of device memory that the fullest rank needs at the very least, whatever the scheme: its share of the features, of
/// every layer's output, of the weights with gradients and optimizer state, and of the adjacency matrix at 2 bytes an entry
/// (column ids of a tile). What a scheme holds beyond that (receive buffers, replicas, second copies) its README says.
std::int64_t least_memory_bytes(const Cell& cell, const DatasetFacts& dataset);

}  // namespace gnnbench
