#include "worker/records.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/transport.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

using nlohmann::json;

TrialRecord::TrialRecord(const ProcessGroup& group, const std::string& journal, std::string trial,
                         bool reaches_journal)
    : group_(group),
      trial_(std::move(trial)),
      writes_(group.rank() == 0),
      path_(journal),
      reaches_journal_(reaches_journal || writes_) {
    if (writes_ && !path_.empty()) journal_ = std::make_unique<WorkerJournal>(path_);
}

json TrialRecord::gather(const json& mine) const {
    json all;
    for (const std::string& text : group_.gather(mine.dump())) all.push_back(json::parse(text));
    return all;
}

void TrialRecord::append(WorkerJournal& journal, const char* type, json fields) const {
    fields["type"] = type;
    fields["trial"] = trial_;
    journal.append(fields);
}

void TrialRecord::write(const char* type, json fields) {
    if (writes_ && journal_) append(*journal_, type, std::move(fields));
}

void TrialRecord::write_own(const char* type, json fields) {
    if (path_.empty()) return;
    if (!reaches_journal_) {
        kept_.push_back({{"type", type}, {"fields", std::move(fields)}});
        return;
    }
    if (!journal_) journal_ = std::make_unique<WorkerJournal>(path_);
    append(*journal_, type, std::move(fields));
}

void TrialRecord::write_end(const TrialEnd& end) {
    if (std::exchange(has_ended_, true)) return;
    json line = {{"status", to_text(end.status)}, {"reason", end.reason}, {"notes", end.notes}};
    if (!end.host_peak_bytes.is_null()) line["host_peak_bytes"] = end.host_peak_bytes;
    if (!end.energy.is_null()) line["energy"] = end.energy;
    write("end", std::move(line));
}

void TrialRecord::collect_own() {
    const json lines = gather(std::exchange(kept_, json::array()));
    for (const json& of_rank : lines)
        for (const json& line : of_rank)
            write(line.at("type").get_ref<const std::string&>().c_str(), line.at("fields"));
}

bool on_host_of_rank_0(const ProcessGroup& group) {
    return group.split_by_host().maximum({group.rank() == 0 ? 1.0 : 0.0})[0] > 0;
}

std::string merged_by_rank(const std::vector<std::string>& texts) {
    std::vector<std::string> different;
    for (const std::string& t : texts)
        if (std::find(different.begin(), different.end(), t) == different.end()) different.push_back(t);
    if (different.size() == 1) return different.front();
    std::string lines;
    for (const std::string& t : different) {
        std::vector<std::size_t> ranks;
        for (std::size_t r = 0; r < texts.size(); ++r)
            if (texts[r] == t) ranks.push_back(r);
        lines += fmt::format("{}{} {}: {}", lines.empty() ? "" : "\n", ranks.size() == 1 ? "rank" : "ranks",
                             fmt::join(ranks, ", "), t);
    }
    return lines;
}

Step over_ranks(const Step& mine, const ProcessGroup& group) {
    if (mine.extent == Extent::all_ranks) return mine;
    const auto samples = static_cast<double>(mine.samples);
    const std::vector<double> sums = group.sum({mine.loss * samples, samples});
    return {.loss = sums[1] > 0 ? sums[0] / sums[1] : 0, .samples = static_cast<std::int64_t>(sums[1])};
}

json finite_or_null(double x) { return std::isfinite(x) ? json(x) : json(nullptr); }

std::string notes_of(const Trainer& trainer, const Backend& backend) {
    const std::string of_trainer = trainer.notes(), of_backend = backend.notes();
    return of_trainer + (of_trainer.empty() || of_backend.empty() ? "" : "\n") + of_backend;
}

json to_json(const VerificationLine& line) {
    const auto error = [](const std::optional<double>& e) { return e ? finite_or_null(*e) : json(nullptr); };
    return {{"status", to_text(line.status)},
            {"reason", line.reason},
            {"loss_error", error(line.loss_error)},
            {"gradient_error", error(line.gradient_error)},
            {"volume_equal", line.volume_equal ? json(*line.volume_equal) : json(nullptr)},
            {"sampled_vertices", line.sampled_vertices},
            {"detail", line.detail},
            {"checks", line.checks}};
}

json dataset_json(const DatasetView& data, const std::vector<std::string>& synthetic) {
    return {{"vertices", data.graph.vertices()},
            {"edges", data.graph.edges()},
            {"features", data.feature_count},
            {"classes", data.classes},
            {"synthetic", synthetic}};
}

json to_json(const Volume& volume) {
    json rows = json::array();
    for (const auto& [key, t] : volume)
        rows.push_back({{"operation", comm_op_names[usize(key.operation)]},
                        {"content", key.content == Content::payload ? "payload" : "metadata"},
                        {"sent_bytes", t.sent_bytes},
                        {"received_bytes", t.received_bytes},
                        {"messages", t.messages}});
    return rows;
}

json to_json(const PartitionQuality& q) {
    return {{"edge_cut", q.edge_cut},
            {"connectivity_minus_one", q.connectivity_minus_one},
            {"vertex_imbalance", q.vertex_imbalance},
            {"nonzero_imbalance", finite_or_null(q.nonzero_imbalance)}};
}

json to_json(const SetupCost& c) {
    const auto part = [](const SetupPart& p) { return json{{"seconds", p.seconds}, {"bytes", p.bytes}}; };
    return {{"read", part(c.read)},
            {"cut", part(c.cut)},
            {"exchange", part(c.exchange)},
            {"prepare", part(c.prepare)}};
}

json to_json(std::span<const Span> spans) {
    json list = json::array();
    for (const Span& s : spans)
        list.push_back({{"stream", s.stream == StreamRole::compute ? "compute" : "communication"},
                        {"phase", phase_names[usize(s.phase)]},
                        {"operation", s.operation},
                        {"begin_s", s.begin_s},
                        {"end_s", s.end_s},
                        {"bytes", s.bytes},
                        {"group_size", s.group_size}});
    return list;
}

json evaluation_json(std::int64_t epoch, const Score& score, std::chrono::steady_clock::time_point start) {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    return {{"epoch", epoch},
            {"metric", to_text(score.metric)},
            {"train", finite_or_null(score.of[0])},
            {"validation", finite_or_null(score.of[1])},
            {"test", finite_or_null(score.of[2])},
            {"wall_s", taken.count()}};
}

json epoch_json(const EpochTimes& times, const Volume& volume, std::int64_t peak_memory_bytes) {
    json phases = json::object();
    for (std::size_t p = 0; p < phase_count; ++p) phases[std::string(phase_names[p])] = times.phase_s[p];
    return {{"wall_s", times.wall_s},
            {"phases", phases},
            {"total_comm_s", times.total_comm_s},
            {"peak_memory_bytes", peak_memory_bytes},
            {"volume", to_json(volume)}};
}

}  // namespace gnnbench
