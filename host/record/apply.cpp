#include "record/apply.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include "record/database.hpp"
#include "record/line_fields.hpp"

namespace gnnbench {
namespace {

using nlohmann::json;
using namespace line_fields;

/// Inserts a volume row of the rank that `ids` name.
void insert_volume(sqlite::Statement& insert, const json& row, const auto&... ids) {
    insert.run(ids..., row.at("operation").get_ref<const std::string&>(),
               row.at("content").get_ref<const std::string&>(), count(row, "sent_bytes"),
               count(row, "received_bytes"), count(row, "messages"));
}
/// Larger than any trial's; a line's value must not keep the host busy for years.
constexpr std::int64_t most_ranks = 1 << 20, most_epochs = INT32_MAX;
}  // namespace

LineApplier::LineApplier(sqlite::Connection& c)
    : connection_(&c),
      add_epoch_(c.prepare("INSERT INTO epoch (trial_id, epoch, warmup, loss, wall_s, steps, samples, as_stated, "
                           "host_energy_j, device_energy_j) VALUES (?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING",
                           "store an epoch")),
      add_rank_(c.prepare("INSERT INTO rank_epoch VALUES (?,?,?,?,?,?) ON CONFLICT DO NOTHING",
                          "store an epoch's rank")),
      add_phase_(c.prepare("INSERT INTO rank_phase VALUES (?,?,?,?,?) ON CONFLICT DO NOTHING",
                           "store an epoch's phases")),
      add_volume_(c.prepare("INSERT INTO rank_volume VALUES (?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING",
                            "store an epoch's volume")),
      add_span_(c.prepare("INSERT INTO span VALUES (?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING",
                          "store an epoch's spans")),
      find_trial_(c.prepare("SELECT id FROM trial WHERE uuid = ?", "look for a trial")),
      is_over_(c.prepare("SELECT 1 FROM trial WHERE id = ? AND status <> 'running'", "look at a trial")) {}

void LineApplier::apply(const json& line) try {
    const std::string type = line.at("type");
    if (type == "trial") return trial(line);
    const std::int64_t id = trial_id(line.at("trial"));
    if (type == "start")
        start(id, line);
    else if (type == "setup")
        setup(id, line);
    else if (type == "epoch")
        epoch(id, line);
    else if (type == "worker")
        worker(id, line);
    else if (type == "spans")
        spans(id, line);
    else if (type == "worker_spans")
        rank_spans(id, whole(line, "epoch", 0, most_epochs), whole(line, "rank", 0, most_ranks), line.at("spans"));
    else if (type == "evaluation")
        evaluation(id, line);
    else if (type == "verification")
        verification(id, line);
    else if (type == "end")
        end(id, line);
    else if (type == "outcome")
        outcome(id, line);
    else
        throw DataError(
            fmt::format("a journal line of type '{}' is unknown; known are trial, start, setup, epoch, worker, "
                        "spans, worker_spans, evaluation, verification, end and outcome.",
                        type));
} catch (const json::exception& e) {
    const std::string shown = line.dump(-1, ' ', false, json::error_handler_t::replace).substr(0, 160);
    throw DataError(fmt::format("a journal line does not follow its contract ({}): {}", e.what(), shown));
} catch (const SpecError& e) {  // a value that the schema refuses
    throw DataError(fmt::format("a journal line does not follow its contract: {}", e.what()));
}

void LineApplier::trial(const json& l) {
    const std::int64_t experiment_id = experiment(l.at("experiment"));
    const std::int64_t cell_id = cell(cell_record_from_json(l));
    connection_
        ->prepare(
            "INSERT INTO experiment_cell VALUES (?1, ?2, (SELECT coalesce(max(position) + 1, 0) "
            "FROM experiment_cell WHERE experiment_id = ?1)) ON CONFLICT DO NOTHING",
            "store a cell of an experiment")
        .run(experiment_id, cell_id);
    connection_
        ->prepare(
            "INSERT INTO trial (uuid, cell_id, experiment_id, machine_id, number, block, "
            "purpose, started, provenance, oversubscribed, verification_key, code) "
            "VALUES (?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING",
            "store a trial")
        .run(l.at("trial").get<std::string>(), cell_id, experiment_id, machine(l.at("machine")), count(l, "index"),
             l.contains("block") ? count(l, "block") : 0, l.value("purpose", "measure"),
             l.at("started").get<std::string>(), object(l, "provenance").dump(), flag(l, "oversubscribed"),
             l.value("verification_key", ""), code_text(object(l, "code")));
}

void LineApplier::start(std::int64_t trial, const json& l) {
    // The device of all ranks, each kind named once.
    std::string devices;
    auto add = connection_->prepare(
        "INSERT INTO trial_rank (trial_id, rank, host, pid, device) VALUES (?,?,?,?,?) ON CONFLICT DO UPDATE SET "
        "host = excluded.host, pid = excluded.pid, device = excluded.device",
        "store a trial's ranks");
    const auto ranks = whole(l, "ranks", 1, most_ranks);
    for (std::int64_t r = 0; r < ranks; ++r) {
        const auto i = usize(r);
        const std::string device = as_text(entry(l, "device", i));
        const json pid = entry(l, "pids", i);
        if (!device.empty() && devices.find(device) == std::string::npos)
            devices += (devices.empty() ? "" : ", ") + device;
        add.run(trial, r, as_text(entry(l, "hosts", i)), integer(pid), device);
    }
    connection_->prepare("UPDATE trial SET ranks = ?, device = ?, mpi = ? WHERE id = ?", "store a trial's start")
        .run(ranks, devices, text(l, "mpi"), trial);
}

void LineApplier::setup(std::int64_t trial, const json& l) {
    const json &seconds = object(l, "seconds"), &partition = object(l, "partition"), &data = object(l, "dataset");
    connection_
        ->prepare(
            "UPDATE trial SET load_s=?, partition_s=?, build_s=?, setup_s=?, edge_cut=?, "
            "connectivity_minus_one=?, vertex_imbalance=?, nonzero_imbalance=?, vertices=?, edges=?, "
            "features=?, classes=?, synthetic=?, aggregated_input=?, approximation=?, notes=? WHERE id=?",
            "store a trial's set-up")
        .run(real(seconds, "load"), real(seconds, "partition"), real(seconds, "build"), real(seconds, "total"),
             integer(partition, "edge_cut"), integer(partition, "connectivity_minus_one"),
             real(partition, "vertex_imbalance"), real(partition, "nonzero_imbalance"), integer(data, "vertices"),
             integer(data, "edges"), integer(data, "features"), integer(data, "classes"), text(data, "synthetic"),
             flag(l, "aggregated_input"), text(l, "approximation"), text(l, "notes"), trial);

    auto memory = connection_->prepare(
        "INSERT INTO trial_rank (trial_id, rank, memory_bytes, stated_memory_bytes) VALUES (?,?,?,?) ON CONFLICT "
        "DO "
        "UPDATE SET memory_bytes = excluded.memory_bytes, stated_memory_bytes = excluded.stated_memory_bytes",
        "store a trial's memory");
    for (std::size_t r = 0; r < length(l, "memory_bytes"); ++r)
        memory.run(trial, r, integer(entry(l, "memory_bytes", r)), integer(entry(l, "stated_memory_bytes", r)));

    // Older builds recorded no costs.
    auto cost = connection_->prepare(
        "UPDATE trial_rank SET read_s=?, read_bytes=?, cut_s=?, cut_bytes=?, exchange_s=?, exchange_bytes=?, "
        "prepare_s=?, prepare_bytes=?, "
        "host_peak_bytes=nullif(max(coalesce(host_peak_bytes, 0), coalesce(?, 0)), 0) WHERE trial_id=? AND rank=?",
        "store a trial's costs of set-up");
    for (std::size_t r = 0; r < length(l, "cost"); ++r) {
        const json& of_rank = l["cost"][r];
        const auto part = [&](const char* name) -> const json& { return object(of_rank, name); };
        const json &read = part("read"), &cut = part("cut"), &exchange = part("exchange"),
                   &prepare = part("prepare");
        cost.run(real(read, "seconds"), integer(read, "bytes"), real(cut, "seconds"), integer(cut, "bytes"),
                 real(exchange, "seconds"), integer(exchange, "bytes"), real(prepare, "seconds"),
                 integer(prepare, "bytes"), integer(entry(l, "host_peak_bytes", r)), trial, r);
    }

    auto stated = connection_->prepare("INSERT INTO stated_volume VALUES (?,?,?,?,?,?,?) ON CONFLICT DO NOTHING",
                                       "store a trial's stated volume");
    for (std::size_t r = 0; r < length(l, "stated"); ++r)
        for (const json& v : l["stated"][r]) insert_volume(stated, v, trial, r);
}

void LineApplier::epoch(std::int64_t trial, const json& l) {
    const auto epoch = whole(l, "epoch", 0, most_epochs);
    const json& ranks = l.at("ranks");
    double wall_s = 0;  // of programs, and by older builds, only the ranks' own
    for (const json& r : ranks) wall_s = std::max(wall_s, seconds_of(r.at("wall_s"), "wall_s"));
    if (l.contains("wall_s")) wall_s = seconds_of(l["wall_s"], "wall_s");
    const json& energy = object(l, "energy");
    add_epoch_.run(trial, epoch, flag(l, "warmup"), real(l, "loss"), wall_s, integer(l, "steps"),
                   integer(l, "samples"), flag_if_any(l, "as_stated"), real(energy, "host_j"),
                   real(energy, "device_j"));
    if (connection_->changes() == 0) return;  // already present, with all its ranks: a line is one transaction
    std::int64_t rank = 0;
    for (const json& r : ranks) rank_epoch(trial, epoch, rank++, r);
    row_ages(trial, epoch, l);
    summarise_if_over(trial);
}

void LineApplier::row_ages(std::int64_t trial, std::int64_t epoch, const json& l) {
    if (length(l, "row_ages") == 0) return;
    auto add = connection_->prepare("INSERT INTO row_age VALUES (?,?,?,?,?,?,?,?)", "store how old rows were");
    for (const json& age : l["row_ages"])
        add.run(trial, epoch, count(age, "layer"), text(age, "kind"), count(age, "rows"), count(age, "absent"),
                real(age, "mean_epochs"), count(age, "most_epochs"));
}

bool LineApplier::rank_epoch(std::int64_t trial, std::int64_t epoch, std::int64_t rank, const json& r) {
    add_rank_.run(trial, epoch, rank, seconds_of(r.at("wall_s"), "wall_s"), real(r, "total_comm_s"),
                  integer(r, "peak_memory_bytes"));
    if (connection_->changes() == 0) return false;
    for (const auto& [phase, seconds] : object(r, "phases").items())
        add_phase_.run(trial, epoch, rank, phase, seconds_of(seconds, phase.c_str()));
    for (std::size_t i = 0; i < length(r, "volume"); ++i)
        insert_volume(add_volume_, r["volume"][i], trial, epoch, rank);
    return true;
}

void LineApplier::worker(std::int64_t trial, const json& l) {
    const auto epoch = whole(l, "epoch", 0, most_epochs), rank = whole(l, "rank", 0, most_ranks);
    add_epoch_.run(trial, epoch, flag(l, "warmup"), std::optional<double>(), 0.0, 0, 0, std::optional<int>(),
                   std::optional<double>(), std::optional<double>());
    if (!rank_epoch(trial, epoch, rank, l)) return;
    connection_->prepare("INSERT INTO worker_epoch VALUES (?,?,?,?,?,?,?,?)", "store a worker's epoch")
        .run(trial, epoch, rank, count(l, "steps"), count(l, "samples"), real(l, "loss"),
             seconds_of(l.at("end_s"), "end_s"), flag_if_any(l, "as_stated"));
    auto add = connection_->prepare("INSERT INTO averaging VALUES (?,?,?,?,?,?)", "store a worker's averagings");
    for (std::size_t i = 0; i < length(l, "averagings"); ++i)
        add.run(trial, epoch, rank, i, whole(l["averagings"][i], "partner", 0, most_ranks),
                whole(l["averagings"][i], "staleness", INT64_MIN, INT64_MAX));
    // Workers leave an epoch in any order, even after others have left the next; so what it and the later ones are
    // changes with each line.
    connection_
        ->prepare(
            "UPDATE epoch SET (steps, samples, loss, as_stated) = (SELECT sum(w.steps), sum(w.samples), "
            "  sum(w.loss * w.samples) / nullif(sum(w.samples), 0), min(w.as_stated) FROM worker_epoch w "
            "  WHERE w.trial_id = ?1 AND w.epoch = epoch.epoch), "
            "wall_s = (SELECT max(w.end_s) FROM worker_epoch w WHERE w.trial_id = ?1 AND w.epoch <= epoch.epoch) "
            "- "
            "  coalesce((SELECT max(w.end_s) FROM worker_epoch w WHERE w.trial_id = ?1 AND w.epoch < "
            "epoch.epoch), 0) "
            "WHERE trial_id = ?1 AND epoch >= ?2",
            "store the epoch of all workers")
        .run(trial, epoch);
    summarise_if_over(trial);
}

/// A line that comes after its trial's outcome still counts.
void LineApplier::summarise_if_over(std::int64_t trial) {
    is_over_.bind(trial);
    const bool over = is_over_.step();
    is_over_.reset();
    if (over) summarise_trial(*connection_, trial);
}

void LineApplier::spans(std::int64_t trial, const json& l) {
    const auto epoch = whole(l, "epoch", 0, most_epochs);
    std::int64_t rank = 0;
    for (const json& list : l.at("ranks")) rank_spans(trial, epoch, rank++, list);
}

void LineApplier::rank_spans(std::int64_t trial, std::int64_t epoch, std::int64_t rank, const json& list) {
    std::int64_t number = 0;
    for (const json& s : list)
        add_span_.run(trial, epoch, rank, number++, s.at("stream").get_ref<const std::string&>(),
                      s.at("phase").get_ref<const std::string&>(), s.at("operation").get_ref<const std::string&>(),
                      s.at("begin_s").get<double>(), s.at("end_s").get<double>(), count(s, "bytes"),
                      whole(s, "group_size", 0, most_ranks));
}

void LineApplier::evaluation(std::int64_t trial, const json& l) {
    connection_
        ->prepare(
            "INSERT INTO evaluation (trial_id, epoch, train, validation, test, wall_s, metric) VALUES "
            "(?,?,?,?,?,?,?) "
            "ON CONFLICT DO NOTHING",
            "store an evaluation")
        .run(trial, whole(l, "epoch", 0, most_epochs), real(l, "train"), real(l, "validation"), real(l, "test"),
             real(l, "wall_s"), l.contains("metric") ? text(l, "metric") : "accuracy");
}

void LineApplier::verification(std::int64_t trial, const json& l) {
    const auto equal = l.find("volume_equal");
    connection_
        ->prepare(
            "INSERT OR REPLACE INTO verification (trial_id, key, status, reason, loss_error, gradient_error, "
            "volume_equal, sampled_vertices, detail, checks) SELECT t.id, t.verification_key, ?,?,?,?,?,?,?,? "
            "FROM trial t WHERE t.id = ?",
            "store a verification")
        .run(to_text(verification_status(l.at("status").get<std::string>())), text(l, "reason"),
             real(l, "loss_error"), real(l, "gradient_error"),
             equal != l.end() && equal->is_boolean() ? std::optional<int>(equal->get<bool>()) : std::nullopt,
             integer(l, "sampled_vertices").value_or(0), text(l, "detail"), object(l, "checks").dump(), trial);
}

/// The worker's own statement of how it ended. The host's outcome overrides it; this keeps the reason in case that
/// never arrives.
void LineApplier::end(std::int64_t trial, const json& l) {
    trial_status(l.at("status").get<std::string>());  // refuses what is none
    connection_->prepare("UPDATE trial SET reason = ? WHERE id = ? AND status = 'running'", "store a trial's end")
        .run(text(l, "reason"), trial);
    // Choices made at run time, if the trial got that far; else those of set-up remain.
    if (const std::string notes = text(l, "notes"); !notes.empty())
        connection_->prepare("UPDATE trial SET notes = ? WHERE id = ?", "store a trial's notes").run(notes, trial);
    auto peak = connection_->prepare(
        "UPDATE trial_rank SET host_peak_bytes = max(coalesce(host_peak_bytes, 0), ?) WHERE trial_id = ? AND rank "
        "= ?",
        "store a trial's host memory");
    for (std::size_t r = 0; r < length(l, "host_peak_bytes"); ++r)
        peak.run(integer(entry(l, "host_peak_bytes", r)), trial, r);
    if (!l.contains("energy")) return;
    const json &energy = object(l, "energy"), &host = object(energy, "host"), &device = object(energy, "device");
    connection_
        ->prepare(
            "UPDATE trial SET energy_j = ?, host_energy_j = ?, host_energy_reason = ?, device_energy_j = ?, "
            "device_energy_reason = ? WHERE id = ?",
            "store a trial's energy")
        .run(real(energy, "joules"), real(host, "joules"), text(host, "reason"), real(device, "joules"),
             text(device, "reason"), trial);
}

void LineApplier::outcome(std::int64_t trial, const json& l) {
    connection_
        ->prepare("UPDATE trial SET status = ?, reason = ?, log_tail = ?, ended = ?, wall_s = ? WHERE id = ?",
                  "store a trial's outcome")
        .run(to_text(trial_status(l.at("status").get<std::string>())), text(l, "reason"), text(l, "log_tail"),
             text(l, "ended"), real(l, "wall_s"), trial);
    summarise_trial(*connection_, trial);
}

}  // namespace gnnbench
