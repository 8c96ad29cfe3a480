#include "cli/partition_volume.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include <gnnbench/training/adjacency.hpp>
#include <gnnbench/training/halo.hpp>
#include <gnnbench/transpose.hpp>

#include "launch/machine.hpp"
#include "record/lines.hpp"
#include "report/format.hpp"
#include "spec/published.hpp"

namespace gnnbench {

PartitionVolume partition_volume(const GraphView& graph, const Partition& partition) {
    const ModelSpec model;
    const IndexMap index(partition);
    const WithTranspose both(graph);
    const Adjacency a(both.view(), model);
    PartitionVolume v;
    for (Part p = 0; p < index.parts(); ++p) {
        const BlockCounts counts(a, index, p);
        Traffic sent;
        for (const Direction d : {Direction::forward, Direction::backward})
            sent += payload_total(
                halo_volume({counts, p, index.parts(), d}, BackwardExchange::gather, CommOp::point_to_point, 1));
        v.mean_rows += static_cast<double>(sent.sent_bytes) / static_cast<double>(index.parts());
        v.mean_messages += static_cast<double>(sent.messages) / static_cast<double>(index.parts());
        v.max_rows = std::max(v.max_rows, sent.sent_bytes);
        v.max_messages = std::max(v.max_messages, sent.messages);
    }
    return v;
}

std::string volume_lines(const VolumeLines& lines, const PartitionVolume& found, const PartitionVolume& base) {
    const std::string table = std::filesystem::path(lines.table).filename().string();
    std::string text = std::string(measured_columns) + "\n";
    const auto add = [&](const char* column, double value, double over) {
        if (over > 0)
            text += csv_line({table, lines.row, column, fmt::format("{:.6f}", value / over), "×", lines.dataset,
                              std::to_string(lines.parts), lines.of, lines.command, utc_now().substr(0, 10),
                              build_info().commit.substr(0, 12)});
    };
    add("volume avg", found.mean_rows, base.mean_rows);
    add("volume max", static_cast<double>(found.max_rows), static_cast<double>(base.max_rows));
    add("messages avg", found.mean_messages, base.mean_messages);
    add("messages max", static_cast<double>(found.max_messages), static_cast<double>(base.max_messages));
    return text;
}

}  // namespace gnnbench
