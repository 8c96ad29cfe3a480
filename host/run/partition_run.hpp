#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include <gnnbench/partition.hpp>

namespace gnnbench {

/// One partitioning, done in a process of its own.
struct PartitionRun {
    Partition partition;
    std::string skipped;  ///< why there is none; empty if there is
    int ranks = 1;        ///< that made it together
    double wall_s = 0;
    /// The most memory that the process held during it, above what it held before, the graph being resident. Not that
    /// of a program that it started.
    std::int64_t peak_bytes = 0;
};

/// Partitions in a copy of this process, which must have one thread, so that its peak of memory is the partitioner's
/// alone and a time limit can end it. Throws what the partitioner throws, by kind (OutOfMemory, DataError, Error),
/// and Error if it does not end within `limit_s` or crashes. Unsupported and the partitioner's own reasons become
/// `skipped`.
PartitionRun run_partitioner(const std::string& name, const Partitioner& partitioner, const PartitionTask& task,
                             double limit_s);

/// The same for a distributed partitioner, by ranks of this host, which each read their rows of the store and write their
/// parts. `peak_bytes` is that of the rank that held most.
PartitionRun run_distributed(const std::string& name, const Partitioner& partitioner, const PartitionTask& task,
                             const std::filesystem::path& store, int ranks, double limit_s);

}  // namespace gnnbench
