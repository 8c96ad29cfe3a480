#pragma once
#include <cstdint>

#include "spec/cell.hpp"
#include "spec/sources.hpp"

namespace gnnbench {

/// What the cell's scheme states (Strategy::stated_memory) for the rank that holds most on its device before its first
/// epoch, in bytes, prepared sparse matrices not included. 0 where the scheme is a program, the dataset does not exist
/// yet, or the partitioner does not support it. Reads the graph, and partitions it where no partition is kept; one that
/// took long is kept then, as a trial does. Throws what run_partitioner throws: this process must have one thread.
std::int64_t largest_stated_memory(const Cell& cell, const PluginSource& plugins, double limit_s);

}  // namespace gnnbench
