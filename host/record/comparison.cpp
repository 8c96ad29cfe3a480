#include "record/comparison.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <gnnbench/error.hpp>

#include "core/plural.hpp"
#include "core/printable.hpp"
#include "record/choice.hpp"
#include "record/database.hpp"
#include "record/experiments.hpp"
#include "record/migrations.hpp"
#include "record/sqlite.hpp"
#include "record/stored_json.hpp"
#include "record/scaled_cells.hpp"
#include "record/varying.hpp"

namespace gnnbench {
namespace {

/// The fields of a trial that a table needs.
struct TrialRow {
    std::int64_t id = 0;
    TrialStatus status = TrialStatus::running;
    std::string reason, synthetic, approximation, verification_key, score_metric;
    std::optional<double> epoch_s, sent_bytes, exposed_comm_s, final_loss, test_score, peak_memory, energy_j;
    bool oversubscribed = false, aggregated_input = false, volume_differs = false;
};
/// By the trial's number in its cell.
using TrialsByNumber = std::map<std::int64_t, TrialRow>;

/// The load that an experiment's own trials leave behind is at most as many as their ranks' threads.
bool is_noisy(double load, std::int64_t cores, std::int64_t own_threads) {
    return cores > 0 && load > 1.25 * static_cast<double>(std::max(cores, own_threads)) + 0.5;
}

/// The most threads that a measured trial of the experiment runs; simulated ranks share one process.
std::int64_t most_threads(const sqlite::Connection& c, std::int64_t experiment) {
    return c.integer(
        fmt::format("SELECT coalesce(max(c.gpus * c.threads_per_rank), 1) FROM experiment_cell x "
                    "JOIN cell c ON c.id = x.cell_id WHERE x.experiment_id = {} AND c.simulated_on IS NULL",
                    experiment),
        "read an experiment's widest cell");
}

/// The trials that count, and what the table says of them all.
std::map<std::int64_t, TrialsByNumber> read_trials(ComparisonData& data, const sqlite::Connection& c,
                                                   std::int64_t experiment, const std::string& machine) {
    auto q = c.prepare(
        "SELECT t.cell_id, t.number, t.status, t.reason, t.synthetic, t.approximation, t.epoch_s, "
        "t.sent_bytes_per_epoch, t.exposed_comm_s, t.final_loss, t.test_accuracy, t.peak_memory_bytes, "
        "t.oversubscribed, t.aggregated_input, t.volume_as_stated, t.id, t.verification_key, k.borrowed, x.name, "
        "EXISTS (SELECT 1 FROM rerun r WHERE r.cell_id = t.cell_id AND r.machine_id = t.machine_id "
        "AND r.number = t.number AND r.replaces >= t.id), "
        "json_extract(t.provenance, '$.load_average[0]'), coalesce(t.score_metric, ''), c.simulated_on IS NOT "
        "NULL, t.energy_j / nullif(t.measured_epochs, 0) "
        "FROM counted_trials k JOIN trial t ON t.id = k.trial_id JOIN experiment x ON x.id = t.experiment_id "
        "JOIN cell c ON c.id = t.cell_id "
        "WHERE k.experiment_id = ?1 AND k.machine_id = (SELECT id FROM machine WHERE fingerprint = ?2) "
        "ORDER BY t.id",
        "read an experiment's trials");
    q.bind(experiment, machine);
    const std::int64_t threads = most_threads(c, experiment);
    std::map<std::int64_t, TrialsByNumber> all;
    std::set<std::string> lenders;
    while (q.step()) {
        all[q.integer(0)][q.integer(1)] = {q.integer(15),
                                           trial_status(q.text(2)),
                                           q.text(3),
                                           q.text(4),
                                           q.text(5),
                                           q.text(16),
                                           q.text(21),
                                           q.maybe_real(6),
                                           q.maybe_real(7),
                                           q.maybe_real(8),
                                           q.maybe_real(9),
                                           q.maybe_real(10),
                                           q.maybe_real(11),
                                           q.maybe_real(23),
                                           q.integer(12) != 0,
                                           q.integer(13) != 0,
                                           !q.is_null(14) && q.integer(14) == 0};
        ++data.trials;
        data.borrowed += q.integer(17);
        if (q.integer(17) != 0) lenders.insert(q.text(18));
        data.awaiting_rerun += q.integer(19);
        // Load lengthens the times that a table shows: not predicted ones, and not those of trials without any.
        if (trial_status(q.text(2)) != TrialStatus::ok || q.is_null(6) || q.integer(22) != 0) continue;
        ++data.timed;
        const double load = q.is_null(20) ? 0 : q.real(20);
        data.highest_load = std::max(data.highest_load, load);
        data.noisy += is_noisy(load, data.cores, threads);
    }
    data.lenders.assign(lenders.begin(), lenders.end());
    return all;
}

/// What a speed-up is over, and where that differs from the cell in threads or epochs, of the row that read_speed_ups is
/// at.
std::string base_text(const sqlite::Statement& q) {
    std::string text = q.text(3);
    if (q.integer(5) > 1) text += ", " + q.text(4) + ",";
    text += " on " + plural(q.integer(5), "gpu");
    if (q.integer(7) != 0) text += ", " + plural(q.integer(6), "thread") + " per rank";
    if (q.integer(9) != 0) text += ", " + plural(q.integer(8), "epoch");
    return text;
}

/// Speed-ups by cell.
std::map<std::int64_t, ComparisonCell::SpeedUp> read_speed_ups(const sqlite::Connection& c,
                                                               std::int64_t experiment,
                                                               const std::string& machine) {
    auto q = c.prepare(
        "SELECT s.cell_id, s.speed_up, s.over_serial, b.scheme_label, b.partitioner_label, b.gpus, "
        "b.threads_per_rank, "
        "b.threads_per_rank <> c.threads_per_rank, b.epochs, b.epochs <> c.epochs, b.id, b.gpus FROM speed_ups s "
        "JOIN cell c ON c.id = s.cell_id JOIN cell b ON b.id = s.base_cell_id WHERE s.experiment_id = ? "
        "AND s.machine_id = (SELECT id FROM machine WHERE fingerprint = ?)",
        "read an experiment's speed-ups");
    q.bind(experiment, machine);
    std::map<std::int64_t, ComparisonCell::SpeedUp> all;
    while (q.step())
        all[q.integer(0)] = {q.real(1), q.integer(2) != 0, base_text(q), q.integer(10),
                             static_cast<int>(q.integer(11))};
    return all;
}

std::optional<double> median_of(const std::vector<const TrialRow*>& trials,
                                std::optional<double> TrialRow::* field) {
    std::vector<double> values;
    for (const TrialRow* t : trials)
        if (t->*field) values.push_back(*(t->*field));
    return values.empty() ? std::nullopt : std::optional(median(values));
}

std::string with_reason(TrialStatus status, const std::string& reason) {
    return to_text(status) + (reason.empty() ? "" : ": " + reason);
}

/// `keys`: of the trials that its time is of.
void summarise(ComparisonCell& cell, const TrialsByNumber& trials, std::vector<std::string>& keys) {
    std::vector<const TrialRow*> ok, others;
    for (const auto& [number, t] : trials) {
        // An `ok` without a measured epoch has no time to show.
        (t.status == TrialStatus::ok && t.epoch_s ? ok : others).push_back(&t);
    }
    if (ok.empty()) {
        if (others.empty()) return;
        cell.status = others.back()->status;
        cell.reason = others.back()->reason;
        cell.synthetic = others.back()->synthetic;
        cell.oversubscribed = others.back()->oversubscribed;
        return;
    }
    cell.status = TrialStatus::ok;
    if (!others.empty())
        cell.other_trials = fmt::format("{} of {} trials ended otherwise ({})", others.size(), trials.size(),
                                        with_reason(others.back()->status, others.back()->reason));
    std::vector<double> times_s;
    for (const TrialRow* t : ok) {
        cell.ok_trials.push_back(t->id);
        keys.push_back(t->verification_key);
        times_s.push_back(*t->epoch_s);
        cell.oversubscribed |= t->oversubscribed;
        cell.aggregated_input |= t->aggregated_input;
        cell.volume_differs |= t->volume_differs;
        if (!t->synthetic.empty()) cell.synthetic = t->synthetic;
        if (!t->approximation.empty()) cell.approximation = t->approximation;
        if (!t->score_metric.empty()) cell.score_metric = t->score_metric;
    }
    cell.epoch_s = estimate(times_s);
    cell.sent_bytes_per_epoch = median_of(ok, &TrialRow::sent_bytes);
    cell.exposed_comm_s = median_of(ok, &TrialRow::exposed_comm_s);
    cell.final_loss = median_of(ok, &TrialRow::final_loss);
    cell.test_score = median_of(ok, &TrialRow::test_score);
    cell.peak_memory_bytes = median_of(ok, &TrialRow::peak_memory);
    cell.energy_j_per_epoch = median_of(ok, &TrialRow::energy_j);
}

/// "counted 120 bytes sent in an epoch, stated 100: 20 more", of the first of the trials that differs. Empty where a trial
/// has no statement that holds for every epoch.
std::string volume_difference(const sqlite::Connection& c, const std::vector<std::int64_t>& trials) {
    auto q = c.prepare(
        "SELECT (SELECT sum(sent_bytes) FROM rank_volume v WHERE v.trial_id = e.trial_id AND v.epoch = e.epoch) "
        "AS counted, "
        "(SELECT sum(sent_bytes) FROM stated_volume s WHERE s.trial_id = e.trial_id) AS stated "
        "FROM epoch e WHERE e.trial_id = ? AND NOT e.warmup AND counted <> stated ORDER BY e.epoch LIMIT 1",
        "read by how much a volume differs");
    for (const std::int64_t trial : trials) {
        q.bind(trial);
        if (q.step()) {
            const std::int64_t counted = q.integer(0), stated = q.integer(1), more = counted - stated;
            return fmt::format("counted {} bytes sent in an epoch, stated {}: {} {}", counted, stated,
                               std::abs(more), more > 0 ? "more" : "fewer");
        }
        q.reset();
    }
    auto stated = c.prepare("SELECT 1 FROM stated_volume WHERE trial_id = ? LIMIT 1", "look for what was stated");
    for (const std::int64_t trial : trials) {
        stated.bind(trial);
        if (!stated.step()) return "";
        stated.reset();
    }
    return "all ranks together sent as many bytes as stated, but a rank's, bytes received or messages differ";
}

/// The newest machine of the experiment's cells, and the number of others.
std::string newest_machine(const sqlite::Connection& c, std::int64_t experiment) {
    auto q = c.prepare(
        "SELECT m.fingerprint FROM experiment_cell x JOIN trial t ON t.cell_id = x.cell_id "
        "JOIN machine m ON m.id = t.machine_id WHERE x.experiment_id = ? AND t.purpose = 'measure' "
        "ORDER BY t.id IN (SELECT trial_id FROM imported_trial), t.id DESC LIMIT 1",
        "look for an experiment's machine");
    q.bind(experiment);
    if (!q.step()) return "";
    const std::string fingerprint = q.text(0);
    q.reset();
    return fingerprint;
}

void describe_machine(ComparisonData& data, const sqlite::Connection& c, std::int64_t experiment,
                      const std::string& fingerprint) {
    auto q = c.prepare("SELECT cpu, cores FROM machine WHERE fingerprint = ?", "read a machine");
    q.bind(fingerprint);
    if (q.step()) {
        data.machine = q.is_null(0) ? "machine " + fingerprint.substr(0, 8) : q.text(0);
        data.cores = q.integer(1);
        if (!q.is_null(1)) data.machine += ", " + plural(q.integer(1), "core");
        q.reset();
    }
    // A kernel on the processor calls its device CPU; a program may call it as the machine does.
    auto devices = c.prepare(
        "SELECT group_concat(device, ', ') FROM (SELECT DISTINCT r.device FROM counted_trials k "
        "JOIN machine m ON m.id = k.machine_id JOIN cell c ON c.id = k.cell_id "
        "JOIN trial_rank r ON r.trial_id = k.trial_id WHERE k.experiment_id = ? AND m.fingerprint = ? "
        "AND k.epoch_s IS NOT NULL AND c.simulated_on IS NULL AND r.device NOT IN ('', 'unknown') "
        "AND r.device NOT LIKE 'CPU%' AND r.device <> coalesce(m.cpu, '') ORDER BY r.device)",
        "read an experiment's devices");
    devices.bind(experiment, fingerprint);
    if (devices.step() && !devices.is_null(0)) data.machine += ", " + devices.text(0);
    auto others = c.prepare(
        "SELECT count(DISTINCT t.machine_id) FROM experiment_cell x JOIN trial t ON t.cell_id = x.cell_id "
        "JOIN machine m ON m.id = t.machine_id WHERE x.experiment_id = ? AND t.purpose = 'measure' "
        "AND m.fingerprint <> ?",
        "count an experiment's machines");
    others.bind(experiment, fingerprint);
    if (others.step()) data.other_machines = others.integer(0);
}

/// Empty where the scheme is a plugin.
std::string program_digest(const nlohmann::json& identity) {
    const auto scheme = identity.find("scheme");
    if (scheme == identity.end() || !scheme->is_object() || !scheme->contains("command")) return {};
    const std::string version = scheme->value("version", "");
    return version.empty() ? "no files" : version;
}

/// The machine that a cell's ranks are simulated on; empty: they are processes.
std::string simulated_machine(const nlohmann::json& identity) {
    const auto kernel = identity.find("kernel");
    if (kernel == identity.end() || !kernel->is_object() || kernel->value("name", "") != "simulated") return {};
    const auto params = kernel->find("params");
    const std::string machine = params == kernel->end() ? "" : params->value("machine", "");
    return machine.empty() ? "no machine" : machine;
}

bool has_sparse_features(const nlohmann::json& identity) {
    const auto model = identity.find("model");
    return model != identity.end() && model->is_object() && model->value("sparse_features", false);
}

}  // namespace

std::string status_text(const ComparisonCell& cell) {
    if (!cell.status) return "";
    return *cell.status == TrialStatus::ok && !cell.epoch_s ? "no epoch" : to_text(*cell.status);
}

ComparisonData read_comparison(const std::filesystem::path& database, const std::string& experiment,
                               const std::string& machine, const std::string& where) {
    const sqlite::Connection c = open_to_read(database);
    const std::int64_t id = experiment_id(c, experiment);
    const std::set<std::int64_t> chosen = cells_of(c, experiment, where);
    if (!where.empty() && chosen.empty())
        throw SpecError(fmt::format("no cell of '{}' fits \"{}\"", experiment, printable(where)));
    const std::string fingerprint = machine.empty() ? newest_machine(c, id) : machine;
    ComparisonData data;
    data.experiment = experiment;
    data.scaling = declared_scaling(c, id);
    describe_machine(data, c, id, fingerprint);
    const auto trials = read_trials(data, c, id, fingerprint);
    const auto speed_ups = read_speed_ups(c, id, fingerprint);

    auto q = c.prepare(
        "SELECT c.id, c.dataset, c.partitioner_label, c.scheme_label, c.scheme, c.gpus, c.identity, "
        "c.verification_key, c.kernel, c.threads_per_rank, c.epochs, c.warmup FROM experiment_cell x "
        "JOIN cell c ON c.id = x.cell_id WHERE x.experiment_id = ? ORDER BY x.position",
        "read an experiment's cells");
    q.bind(id);
    VerificationFinder verifications(c);
    std::vector<std::string> places;
    std::vector<CellFields> fields;
    std::set<std::string> kernels;
    std::set<int> threads;
    std::set<std::pair<std::int64_t, std::int64_t>> lengths;
    while (q.step()) {
        if (!chosen.contains(q.integer(0))) continue;
        ComparisonCell cell;
        cell.id = q.integer(0);
        cell.dataset = q.text(1);
        cell.partitioner = q.text(2);
        cell.scheme = q.text(3);
        cell.scheme_name = q.text(4);
        cell.gpus = static_cast<int>(q.integer(5));
        const nlohmann::json identity = stored_json(q.text(6));
        fields.push_back(cell.fields = cell_fields(identity));
        cell.program = program_digest(identity);
        cell.simulated = simulated_machine(identity);
        cell.sparse_features = has_sparse_features(identity);
        std::vector<std::string> keys;
        if (const auto t = trials.find(q.integer(0)); t != trials.end()) summarise(cell, t->second, keys);
        if (cell.volume_differs) cell.volume_difference = volume_difference(c, cell.ok_trials);
        cell.verification = verifications.of_trials(q.text(7), keys);
        cell.of_other_builds = std::ssize(keys) - std::ranges::count(keys, q.text(7));
        if (const auto s = speed_ups.find(q.integer(0)); s != speed_ups.end()) cell.speed_up = s->second;
        kernels.insert(q.text(8) + (cell.simulated.empty() ? "" : " (" + cell.simulated + ")"));
        threads.insert(static_cast<int>(q.integer(9)));
        lengths.insert({q.integer(10), q.integer(11)});
        data.cells.push_back(std::move(cell));
    }
    name_series(data);
    for (const ComparisonCell& cell : data.cells)
        places.push_back(fmt::format("{}\n{}\n{}\n{}", cell.dataset, cell.partitioner, cell.scheme, cell.gpus));
    VaryingFields varying = varying_fields(places, fields);
    data.other_keys = std::move(varying.names);
    for (std::size_t i = 0; i < data.cells.size(); ++i) data.cells[i].others = std::move(varying.values[i]);
    add_efficiencies(data);
    for (const auto& kernel : kernels) data.kernels += (data.kernels.empty() ? "" : ", ") + kernel;
    if (!threads.empty()) data.fewest_threads = *threads.begin(), data.most_threads = *threads.rbegin();
    if (lengths.size() == 1) std::tie(data.epochs, data.warmup) = *lengths.begin();
    return data;
}

}  // namespace gnnbench
