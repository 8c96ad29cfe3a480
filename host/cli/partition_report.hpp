#pragma once
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/partition_volume.hpp"
#include "partition/measure.hpp"
#include "partition/stated.hpp"
#include "run/partition_run.hpp"

namespace gnnbench {

/// One partitioner's partition into a number of parts, and what it costs; or why there is none.
struct PartitionFacts {
    std::string partitioner;
    Part parts = 1;
    PartitionRun run;
    std::string failed;  ///< how it failed; empty if it did not
    PartitionCost cost;
    std::optional<PartitionVolume> volume;  ///< if requested
    std::optional<StatedCost> stated;       ///< of the scheme that --scheme names
    std::string unbalanced;                 ///< why a part is heavier than asked for; empty if none is

    bool skipped() const { return !run.skipped.empty(); }
    bool missing() const { return skipped() || !failed.empty(); }
};

/// Means, maxima and imbalances, one line a partition, in tables of 80 columns; reasons of those that are missing
/// follow.
std::string partition_tables(const std::vector<PartitionFacts>& all, std::int64_t edges);

/// Every part's numbers, a line each.
std::string part_table(const std::vector<PartitionFacts>& all);

/// With `per_part`, also every part's numbers.
nlohmann::json to_json(const PartitionFacts& facts, bool per_part);

/// A header, then one line a part of each partition.
std::string partition_csv(const std::vector<PartitionFacts>& all);

}  // namespace gnnbench
