#include "cli/partition_report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/output.hpp"
#include "report/format.hpp"

namespace gnnbench {
namespace {

using nlohmann::json;

std::string share(std::int64_t of, std::int64_t all) {
    return fmt::format("{:.1f}%", all == 0 ? 0 : 100.0 * static_cast<double>(of) / static_cast<double>(all));
}

/// "812 B", "1.4 MiB".
std::string bytes_text(double bytes) {
    if (bytes < 1024) return fmt::format("{:.0f} B", bytes);
    for (const char* unit : {"KiB", "MiB", "GiB"}) {
        bytes /= 1024;
        if (bytes < 1024) return fmt::format("{:.{}f} {}", bytes, bytes < 10 ? 1 : 0, unit);
    }
    return fmt::format("{:.1f} TiB", bytes / 1024);
}

std::string mean_text(const Spread& s) { return fmt::format("{:.{}f}", s.mean, s.mean < 1e5 ? 1 : 0); }
std::string imbalance_text(const Spread& s) { return fmt::format("{:.3f}", s.imbalance()); }

std::vector<std::string> cut_row(const PartitionFacts& f, std::int64_t edges) {
    return {f.partitioner,
            std::to_string(f.parts),
            std::to_string(f.cost.edge_cut),
            share(f.cost.edge_cut, edges),
            std::to_string(f.cost.cut_nets),
            std::to_string(f.cost.connectivity_minus_one),
            std::to_string(f.cost.backward_connectivity_minus_one),
            duration_text(f.run.wall_s),
            bytes_text(static_cast<double>(f.run.peak_bytes))};
}

/// Of a vertex cut.
std::vector<std::string> copies_row(const PartitionFacts& f) {
    return {f.partitioner,
            std::to_string(f.parts),
            fmt::format("{:.3f}", f.cost.replication),
            std::to_string(f.cost.cut_nets),
            std::to_string(f.cost.connectivity_minus_one),
            duration_text(f.run.wall_s),
            bytes_text(static_cast<double>(f.run.peak_bytes))};
}

std::vector<std::string> row_row(const PartitionFacts& f) {
    const Spread sent = f.cost.spread(&PartCost::sent_rows), received = f.cost.spread(&PartCost::received_rows);
    return {f.partitioner,           std::to_string(f.parts),
            mean_text(sent),         std::to_string(sent.maximum),
            imbalance_text(sent),    std::to_string(received.maximum),
            imbalance_text(received)};
}

std::vector<std::string> part_row(const PartitionFacts& f) {
    const auto spread = [&](std::int64_t PartCost::* number) { return f.cost.spread(number); };
    const Spread messages = spread(&PartCost::sent_messages), vertices = spread(&PartCost::vertices),
                 nonzeros = spread(&PartCost::nonzeros);
    return {f.partitioner,
            std::to_string(f.parts),
            mean_text(messages),
            std::to_string(messages.maximum),
            std::to_string(vertices.maximum),
            imbalance_text(vertices),
            std::to_string(nonzeros.maximum),
            imbalance_text(nonzeros)};
}

std::vector<std::string> stated_row(const PartitionFacts& f) {
    const StatedCost& s = *f.stated;
    const std::string bound = s.at_most ? "≤ " : "";
    return {f.partitioner,
            std::to_string(f.parts),
            bound + bytes_text(static_cast<double>(s.total_bytes)),
            bound + bytes_text(s.sent_bytes.mean),
            bound + bytes_text(static_cast<double>(s.sent_bytes.maximum)),
            imbalance_text(s.sent_bytes),
            bound + mean_text(s.messages),
            bound + std::to_string(s.messages.maximum)};
}

std::vector<std::string> volume_row(const PartitionFacts& f) {
    return {f.partitioner,
            std::to_string(f.parts),
            fmt::format("{:.1f}", f.volume->mean_rows),
            std::to_string(f.volume->max_rows),
            fmt::format("{:.1f}", f.volume->mean_messages),
            std::to_string(f.volume->max_messages)};
}

json to_json(const Spread& s) { return {{"mean", s.mean}, {"max", s.maximum}, {"imbalance", s.imbalance()}}; }

/// Every number of a part, by its name.
constexpr std::pair<const char*, std::int64_t PartCost::*> part_numbers[] = {
    {"vertices", &PartCost::vertices},           {"nonzeros", &PartCost::nonzeros},
    {"sent_rows", &PartCost::sent_rows},         {"received_rows", &PartCost::received_rows},
    {"sent_messages", &PartCost::sent_messages}, {"received_messages", &PartCost::received_messages}};

}  // namespace

std::string partition_tables(const std::vector<PartitionFacts>& all, std::int64_t edges) {
    TextColumns cut(
        {"partitioner", "parts", "edges cut", "of all", "nets cut", "sum(λ−1)", "Âᵀ", "time", "memory"});
    TextColumns copies({"partitioner", "parts", "replication", "vertices cut", "copies", "time", "memory"});
    TextColumns rows({"partitioner", "parts", "sent, mean", "max", "÷ mean", "received, max", "÷ mean"});
    TextColumns parts({"partitioner", "parts", "messages", "max", "vertices", "÷ mean", "nonzeros", "÷ mean"});
    TextColumns stated({"partitioner", "parts", "in all", "mean", "max", "÷ mean", "messages", "max"});
    TextColumns volumes({"partitioner", "parts", "rows sent, mean", "max", "messages, mean", "max"});
    std::string remarks;
    for (const PartitionFacts& f : all) {
        if (f.missing()) {
            remarks += fmt::format("{}, {} parts: {}: {}\n", f.partitioner, f.parts,
                                   f.skipped() ? "skipped" : "failed", f.skipped() ? f.run.skipped : f.failed);
            continue;
        }
        if (f.cost.replication > 0)
            copies.add(copies_row(f));
        else
            cut.add(cut_row(f, edges));
        rows.add(row_row(f));
        parts.add(part_row(f));
        if (f.run.ranks > 1)
            remarks += fmt::format("{}, {} parts: by {} ranks; memory is of the one that held most\n",
                                   f.partitioner, f.parts, f.run.ranks);
        if (!f.unbalanced.empty())
            remarks += fmt::format("{}, {} parts: {}\n", f.partitioner, f.parts, f.unbalanced);
        if (f.volume) volumes.add(volume_row(f));
        if (!f.stated) continue;
        if (f.stated->skipped.empty())
            stated.add(stated_row(f));
        else
            remarks +=
                fmt::format("{}, {} parts: nothing stated: {}\n", f.partitioner, f.parts, f.stated->skipped);
    }
    std::string text;
    if (!cut.empty()) text += cut.text();
    if (!copies.empty())
        text += (cut.empty() ? "" : "\n") +
                std::string("vertex cuts: edges are dealt to parts, which copy vertices\n") + copies.text();
    if (!rows.empty())
        text += "\nrows that a part sends and receives in one product\n" + rows.text() +
                "\nmessages a part sends; vertices and nonzeros (with diagonal) of the largest\n" + parts.text();
    if (!volumes.empty())
        text += "\nper part, in a forward and a backward product by point-to-point messages\n" + volumes.text();
    if (!stated.empty())
        text += "\nbytes and messages that a rank sends in an epoch, as the scheme states them\n" + stated.text();
    if (!remarks.empty()) text += (text.empty() ? "" : "\n") + remarks;
    return text;
}

std::string part_table(const std::vector<PartitionFacts>& all) {
    TextColumns table(
        {"partitioner", "part", "vertices", "nonzeros", "rows sent", "received", "messages", "received"});
    for (const PartitionFacts& f : all)
        for (std::size_t p = 0; p < f.cost.parts.size(); ++p) {
            std::vector<std::string> row = {fmt::format("{}, {}", f.partitioner, f.parts), std::to_string(p)};
            for (const auto& [name, number] : part_numbers) row.push_back(std::to_string(f.cost.parts[p].*number));
            table.add(std::move(row));
        }
    return table.empty() ? "" : table.text();
}

json to_json(const PartitionFacts& f, bool per_part) {
    json j{{"partitioner", f.partitioner}, {"parts", f.parts}};
    if (f.missing()) {
        j[f.skipped() ? "skipped" : "failed"] = f.skipped() ? f.run.skipped : f.failed;
        return j;
    }
    j.update({{"edge_cut", f.cost.edge_cut},
              {"cut_nets", f.cost.cut_nets},
              {"connectivity_minus_one", f.cost.connectivity_minus_one},
              {"backward_connectivity_minus_one", f.cost.backward_connectivity_minus_one},
              {"empty_parts", f.cost.empty_parts},
              {"ranks", f.run.ranks},
              {"partition_s", f.run.wall_s},
              {"peak_bytes", f.run.peak_bytes}});
    if (f.cost.replication > 0) j["replication_factor"] = f.cost.replication;
    for (const auto& [name, number] : part_numbers) j[name] = to_json(f.cost.spread(number));
    if (per_part)
        for (const auto& [name, number] : part_numbers)
            for (const PartCost& p : f.cost.parts) j["per_part"][name].push_back(p.*number);
    if (!f.unbalanced.empty()) j["unbalanced"] = f.unbalanced;
    if (f.volume)
        j.update({{"mean_sent_rows", f.volume->mean_rows},
                  {"max_sent_rows", f.volume->max_rows},
                  {"mean_messages", f.volume->mean_messages},
                  {"max_messages", f.volume->max_messages}});
    if (!f.stated) return j;
    if (!f.stated->skipped.empty())
        j["stated"] = {{"skipped", f.stated->skipped}};
    else
        j["stated"] = {{"total_bytes", f.stated->total_bytes},
                       {"at_most", f.stated->at_most},
                       {"sent_bytes", to_json(f.stated->sent_bytes)},
                       {"messages", to_json(f.stated->messages)}};
    return j;
}

std::string partition_csv(const std::vector<PartitionFacts>& all) {
    std::string text = "partitioner,parts,part";
    for (const auto& [name, number] : part_numbers) text += fmt::format(",{}", name);
    text += '\n';
    for (const PartitionFacts& f : all)
        for (std::size_t p = 0; p < f.cost.parts.size(); ++p) {
            std::vector<std::string> fields = {f.partitioner, std::to_string(f.parts), std::to_string(p)};
            for (const auto& [name, number] : part_numbers)
                fields.push_back(std::to_string(f.cost.parts[p].*number));
            text += csv_line(fields);
        }
    return text;
}

}  // namespace gnnbench
