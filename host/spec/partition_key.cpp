#include "spec/partition_key.hpp"

#include <map>
#include <mutex>

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <gnnbench/part_file.hpp>

namespace gnnbench {
namespace {

/// Read once in a process: plans ask for thousands of cells.
std::string plugin_digest(const std::filesystem::path& plugin) {
    static std::mutex reading;
    static std::map<std::filesystem::path, std::string> known;
    const std::lock_guard lock(reading);
    std::string& digest = known[plugin];
    if (digest.empty()) digest = file_digest(plugin);
    return digest;
}

}  // namespace

std::string partition_key(const Cell& cell, const PartitionNeed& need, const std::filesystem::path& plugin) {
    nlohmann::json partitioner = identity_part(cell, "partitioner");
    partitioner.erase("label");
    const std::string text =
        fmt::format("{} {} {} {} {} {}{} {} {}", cell.dataset.digest, cell.dataset.split, partitioner.dump(),
                    plugin_digest(plugin), need.parts, need.column_parts, need.vertex_cut ? " vertex-cut" : "",
                    cell.train.seed, identity_part(cell, "model").dump());
    const XXH128_hash_t h = XXH3_128bits(text.data(), text.size());
    return fmt::format("{:016x}{:016x}", h.high64, h.low64);
}

std::filesystem::path partition_folder(const std::filesystem::path& store) {
    return std::filesystem::absolute(store).lexically_normal().parent_path() / ".partitions";
}

}  // namespace gnnbench
