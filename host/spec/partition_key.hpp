#pragma once
#include <filesystem>
#include <string>

#include <gnnbench/partition.hpp>

#include "spec/cell.hpp"

namespace gnnbench {

/// 32 hex digits of all that a cell's partition depends on: the dataset's content and split, the partitioner (its
/// version, what it reads besides, its file) with its parameters, what the scheme needs, seed and model. Cells that
/// differ in anything else share it. The cell's dataset must be known.
std::string partition_key(const Cell& cell, const PartitionNeed& need, const std::filesystem::path& plugin);

/// Where partitions are kept: beside the stores, for all that use those.
std::filesystem::path partition_folder(const std::filesystem::path& store);

}  // namespace gnnbench
