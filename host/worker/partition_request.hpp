#pragma once
#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include <gnnbench/partition.hpp>

namespace gnnbench {

/// What `gnnbench partition --ranks` asks of ranks, as a JSON file.
struct PartitionRequest {
    std::string store;  ///< folder of the dataset
    std::string partitioner;
    nlohmann::json params;
    Part parts = 1;
    std::uint64_t seed = 0;
    std::string output;  ///< file of a Part for each vertex, as long as that already; each rank writes its rows
};
nlohmann::json to_json(const PartitionRequest& request);
/// Throws EnvironmentError where the file cannot be read.
PartitionRequest read_partition_request(const std::string& path);

/// Before the line that rank 0 prints: a JSON object with wall_s and peak_bytes, or `failed` (unsupported, oom, data or other)
/// and `why`.
inline constexpr const char* partition_mark = "partition of ranks: ";

}  // namespace gnnbench
