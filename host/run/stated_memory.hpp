#pragma once
#include "data/store.hpp"
#include "spec/cell.hpp"
#include "spec/plan.hpp"
#include "spec/sources.hpp"

namespace gnnbench {

/// What the cell's scheme states: of device memory before its first epoch (Strategy::stated_memory), prepared sparse
/// matrices not included; of host memory at the peak of set-up and training (host_memory), in a trial whose ranks share
/// this host. Nothing where the partitioner does not support it; nothing of the host where ranks are simulated. Reads the graph, and partitions it where no partition is kept; one
/// that took long is kept then, as a trial does. Throws what run_partitioner throws: this process must have one thread.
StatedMemory stated_memory_of(const Cell& cell, const Store& store, const PluginSource& plugins, double limit_s);

}  // namespace gnnbench
