#include "record/measurements.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "record/choice.hpp"
#include "record/migrations.hpp"
#include "record/timeline_product.hpp"

namespace gnnbench {
namespace {

// Phases are taken as the mean over ranks, so that they add up to an epoch; an independent worker that took no batch of
// an epoch has no row of it, and counts with 0. ?1 is the trial, ?2 the phase.
constexpr const char* rank_epochs =
    "((SELECT count(DISTINCT rank) FROM rank_epoch WHERE trial_id = ?1) * "
    "(SELECT count(*) FROM epoch WHERE trial_id = ?1 AND NOT warmup))";

/// Seconds of the phases for which `condition` holds, divided by `divisor`.
std::string over_phases(std::string_view condition, std::string_view divisor) {
    return fmt::format(
        "SELECT sum(CASE WHEN {} THEN p.seconds ELSE 0 END) / {} FROM rank_phase p JOIN epoch e "
        "ON e.trial_id = p.trial_id AND e.epoch = p.epoch WHERE p.trial_id = ?1 AND NOT e.warmup",
        condition, divisor);
}

constexpr std::array phases{"spmm", "gemm",     "activation", "loss", "optimizer",
                            "pack", "sampling", "comm",       "wait", "other"};

/// Payload of a rank, mean over measured epochs, then over ranks (avg) or of the largest (max). `which`: a condition on
/// what is counted.
std::string per_rank(std::string_view over, std::string_view column, std::string_view which = "true") {
    return fmt::format(
        "SELECT {}(v) FROM (SELECT coalesce(sum(v.{}), 0) * 1.0 / (SELECT count(*) FROM epoch m WHERE m.trial_id "
        "= ?1 AND NOT "
        "m.warmup) "
        "AS v FROM rank_epoch r JOIN epoch e ON e.trial_id = r.trial_id AND e.epoch = r.epoch LEFT JOIN "
        "rank_volume v "
        "ON v.trial_id = r.trial_id AND v.epoch = r.epoch AND v.rank = r.rank AND v.content = 'payload' AND {} "
        "WHERE r.trial_id = ?1 AND NOT e.warmup GROUP BY r.rank)",
        over, column, which);
}

/// A column of the trial's row.
constexpr std::array columns{"epoch_s",
                             "setup_s",
                             "load_s",
                             "partition_s",
                             "build_s",
                             "exposed_comm_s",
                             "sent_bytes_per_epoch",
                             "messages_per_epoch",
                             "final_loss",
                             "train_accuracy",
                             "validation_accuracy",
                             "test_accuracy",
                             "peak_memory_bytes",
                             "edge_cut",
                             "connectivity_minus_one",
                             "vertex_imbalance",
                             "nonzero_imbalance",
                             "vertices",
                             "edges",
                             "features",
                             "classes"};

struct Question {
    std::string sql, phase;
};

Question question(const std::string& metric) {
    for (const char* column : columns)
        if (metric == column) return {fmt::format("SELECT {} FROM trial WHERE id = ?1", column), ""};
    for (const char* phase : phases) {
        if (metric == std::string(phase) + "_s") return {over_phases("p.phase = ?2", rank_epochs), phase};
        if (metric == std::string(phase) + "_share") return {over_phases("p.phase = ?2", "sum(p.seconds)"), phase};
    }
    if (metric == "communication_s") return {over_phases("p.phase IN ('comm', 'wait')", rank_epochs), ""};
    if (metric == "computation_s") return {over_phases("p.phase NOT IN ('comm', 'wait')", rank_epochs), ""};
    if (metric == "training_s") return {"SELECT sum(wall_s) FROM epoch WHERE trial_id = ?1 AND NOT warmup", ""};
    if (metric == "stale_epochs")
        return {
            "SELECT sum(a.mean_epochs * (a.rows - a.absent)) / nullif(sum(a.rows - a.absent), 0) FROM row_age a "
            "JOIN epoch e ON e.trial_id = a.trial_id AND e.epoch = a.epoch WHERE a.trial_id = ?1 AND NOT e.warmup",
            ""};
    for (const char* of : {"", "host_", "device_"})
        if (metric == std::string(of) + "energy_j_per_epoch")
            return {fmt::format("SELECT {}energy_j / nullif(measured_epochs, 0) FROM trial WHERE id = ?1", of),
                    ""};
    if (metric == "average_degree") return {"SELECT edges * 1.0 / vertices FROM trial WHERE id = ?1", ""};
    if (metric == "mean_sent_bytes") return {per_rank("avg", "sent_bytes"), ""};
    if (metric == "mean_point_to_point_bytes")
        return {per_rank("avg", "sent_bytes", "v.operation = 'point-to-point'"), ""};
    if (metric == "max_sent_bytes") return {per_rank("max", "sent_bytes"), ""};
    if (metric == "mean_messages") return {per_rank("avg", "messages"), ""};
    if (metric == "max_messages") return {per_rank("max", "messages"), ""};
    throw LogicError("no SQL for the metric '" + metric + "'");
}

bool is_file(const std::filesystem::path& database) {
    std::error_code error;
    return std::filesystem::exists(database, error);
}

/// The machine, by its fingerprint, that ran the newest of several experiments' trials.
struct NewestTrial {
    std::string experiment, machine;
    bool imported = false;
    std::int64_t id = 0;
};
std::optional<NewestTrial> newest_trial(const sqlite::Connection& c, std::span<const std::string> experiments) {
    std::optional<NewestTrial> newest;
    auto q = c.prepare(
        "SELECT m.fingerprint, t.id IN (SELECT trial_id FROM imported_trial) AS imported, t.id FROM experiment x "
        "JOIN experiment_cell k ON k.experiment_id = x.id "
        "JOIN trial t ON t.cell_id = k.cell_id AND t.purpose = 'measure' JOIN machine m ON m.id = t.machine_id "
        "WHERE x.name = ? ORDER BY imported, t.id DESC LIMIT 1",
        "look for an experiment's newest trial");
    for (const std::string& name : experiments) {
        q.bind(name);
        if (!q.step()) continue;
        const NewestTrial one{name, q.text(0), q.integer(1) != 0, q.integer(2)};
        if (!newest || std::pair(!one.imported, one.id) > std::pair(!newest->imported, newest->id)) newest = one;
        q.reset();
    }
    return newest;
}

bool is_there(const sqlite::Connection& c, const std::string& experiment) {
    auto q = c.prepare("SELECT 1 FROM experiment WHERE name = ?", "look for an experiment");
    q.bind(experiment);
    const bool found = q.step();
    q.reset();
    return found;
}

}  // namespace

MeasuredCells read_measured(const std::filesystem::path& database, std::span<const std::string> experiments,
                            const std::string& where) {
    MeasuredCells all;
    if (!is_file(database)) return all;
    std::optional<NewestTrial> newest;
    std::set<std::int64_t> chosen;
    {
        const sqlite::Connection c = open_to_read(database);
        newest = newest_trial(c, experiments);
        if (!newest) return all;
        for (const std::string& name : experiments)
            if (is_there(c, name)) all.experiments.push_back(name);
        if (!where.empty()) chosen = cells_where(c, where);
    }
    std::set<std::string> kernels;
    std::set<std::int64_t> taken;  // experiments may share cells
    for (const std::string& name : all.experiments) {
        ComparisonData data = read_comparison(database, name, newest->machine);
        if (all.machine.empty()) all.machine = data.machine;
        all.other_machines = std::max(all.other_machines, data.other_machines);
        if (!data.kernels.empty()) kernels.insert(data.kernels);
        for (ComparisonCell& cell : data.cells)
            if ((where.empty() || chosen.contains(cell.id)) && taken.insert(cell.id).second)
                all.cells.push_back(std::move(cell));
    }
    for (const std::string& kernel : kernels) all.kernels += (all.kernels.empty() ? "" : ", ") + kernel;
    return all;
}

std::string newest_of(const std::filesystem::path& database, std::span<const std::string> experiments) {
    if (!is_file(database)) return "";
    const auto newest = newest_trial(open_to_read(database), experiments);
    return newest ? newest->experiment : "";
}

MetricReader::MetricReader(const std::filesystem::path& database)
    : database_(database), connection_(database, sqlite::Access::read_only) {}

std::optional<double> MetricReader::product_s(std::int64_t trial) const {
    const std::string traced = traced_among(database_, std::array{trial});
    if (traced.empty()) return std::nullopt;
    const auto product = largest_product(read_timeline(database_, traced, std::nullopt));
    return product ? std::optional(product->wall_s) : std::nullopt;
}

std::optional<double> MetricReader::read(std::int64_t trial, const std::string& metric) const {
    if (metric == "product_s") return product_s(trial);
    const Question asked = question(metric);
    auto q = connection_.prepare(asked.sql, "read a metric");
    if (asked.phase.empty())
        q.bind(trial);
    else
        q.bind(trial, asked.phase);
    std::optional<double> value;
    if (q.step()) {
        value = q.maybe_real(0);
        q.reset();
    }
    return value;
}

std::optional<double> MetricReader::training_s_until(std::int64_t trial, double score) const {
    auto q = connection_.prepare(
        "SELECT sum(wall_s) FROM epoch WHERE trial_id = ?1 AND NOT warmup AND epoch <= "
        "(SELECT min(epoch) FROM evaluation WHERE trial_id = ?1 AND test >= ?2)",
        "read when a score was reached");
    q.bind(trial, score);
    std::optional<double> value;
    if (q.step()) {
        value = q.maybe_real(0);
        q.reset();
    }
    return value;
}

std::string traced_among(const std::filesystem::path& database, std::span<const std::int64_t> trials) {
    const sqlite::Connection c(database, sqlite::Access::read_only);
    auto q = c.prepare(
        "SELECT uuid FROM trial t WHERE id = ? AND EXISTS (SELECT 1 FROM span s WHERE s.trial_id = t.id)",
        "look for a traced trial");
    std::string found;
    for (const std::int64_t trial : trials) {
        q.bind(trial);
        if (q.step()) found = q.text(0);
        q.reset();
    }
    return found;
}

}  // namespace gnnbench
