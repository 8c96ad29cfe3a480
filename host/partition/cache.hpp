#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include <gnnbench/partition.hpp>

namespace gnnbench {

/// A partition that was made before, and the seconds that it took then.
struct KeptPartition {
    Partition partition;
    double wall_s = 0;
};

/// Partitions in a folder, a file each, by a key that says all that they depend on. Several processes may use one
/// folder: files appear complete, by rename. A file that is not what its digest says is removed and counts as not
/// there. What cannot be read or written is not kept; that is no error.
class PartitionCache {
public:
    /// The folder's files take at most `limit_bytes`; beyond, those that were not used for longest go.
    explicit PartitionCache(std::filesystem::path folder, std::int64_t limit_bytes = std::int64_t{4} << 30)
        : folder_(std::move(folder)), limit_bytes_(limit_bytes) {}

    /// `key`: letters and digits. Nothing if there is none, or one that is not of such a need and such a graph.
    std::optional<KeptPartition> find(const std::string& key, const PartitionNeed& need,
                                      const GraphSize& graph) const;
    bool holds(const std::string& key) const;
    void keep(const std::string& key, const KeptPartition& kept) const;

private:
    std::filesystem::path file_of(const std::string& key) const { return folder_ / (key + ".partition"); }
    void make_room() const;

    std::filesystem::path folder_;
    std::int64_t limit_bytes_;
};

/// What is worth a file: partitions that took longer than this.
inline constexpr double kept_from_s = 0.1;

}  // namespace gnnbench
