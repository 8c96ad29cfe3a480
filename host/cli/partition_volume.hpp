#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <gnnbench/graph.hpp>
#include <gnnbench/partition.hpp>

namespace gnnbench {

/// The volume between the parts of a partition in one forward and one backward product, as stated by
/// demirci-p2p: the rows that others need, in one message per part that needs any. It starts no rank.
struct PartitionVolume {
    double mean_rows = 0, mean_messages = 0;  ///< of a part
    std::int64_t max_rows = 0, max_messages = 0;
};
PartitionVolume partition_volume(const GraphView& graph, const Partition& partition);

/// Lines of the measured.csv beside a table: `found` over `base`, in the columns of Demirci et al.'s Table 2.
struct VolumeLines {
    std::string table, row;            ///< "demirci/table-2", "amazon0601 GP"
    std::string dataset, of, command;  ///< of: what was counted
    Part parts = 1;
};
std::string volume_lines(const VolumeLines& lines, const PartitionVolume& found, const PartitionVolume& base);

}  // namespace gnnbench
