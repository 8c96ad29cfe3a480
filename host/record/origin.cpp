#include "record/origin.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "record/cell_expression.hpp"
#include "record/choice.hpp"
#include "record/database.hpp"
#include "record/experiments.hpp"
#include "record/migrations.hpp"
#include "record/sqlite.hpp"
#include "record/stored_json.hpp"

namespace gnnbench {
namespace {

using nlohmann::json;

void add_cells(ExperimentOrigin& origin, const sqlite::Connection& c, std::int64_t experiment,
               const std::set<std::int64_t>& chosen, std::map<std::int64_t, std::size_t>& place) {
    auto q = c.prepare(
        "SELECT c.id, c.digest, c.dataset, c.dataset_digest, c.scheme_label, c.partitioner_label, c.kernel, "
        "c.gpus, "
        "c.threads_per_rank, c.identity, c.slowdown FROM experiment_cell x JOIN cell c ON c.id = x.cell_id "
        "WHERE x.experiment_id = ? ORDER BY x.position",
        "read an experiment's cells");
    q.bind(experiment);
    std::vector<CellFields> fields;
    while (q.step()) {
        if (!chosen.contains(q.integer(0))) continue;
        place[q.integer(0)] = origin.cells.size();
        origin.cells.push_back({.digest = q.text(1),
                                .dataset = q.text(2),
                                .dataset_digest = q.text(3),
                                .scheme = q.text(4),
                                .partitioner = q.text(5),
                                .kernel = q.text(6),
                                .gpus = q.integer(7),
                                .threads_per_rank = q.integer(8),
                                .slowdown = q.text(10),
                                .where = {},
                                .trials = {}});
        fields.push_back(cell_fields(stored_json(q.text(9))));
    }
    const std::vector<std::string> expressions = cell_expressions(fields);
    for (std::size_t i = 0; i < expressions.size(); ++i) origin.cells[i].where = expressions[i];
}

void add_trials(ExperimentOrigin& origin, const sqlite::Connection& c, std::int64_t experiment,
                const std::map<std::int64_t, std::size_t>& place) {
    auto q = c.prepare(
        "SELECT t.cell_id, t.id, t.number, t.uuid, t.status, t.reason, t.log_tail, t.started, m.fingerprint, "
        "json_extract(t.provenance, '$.version'), json_extract(t.provenance, '$.commit'), t.epoch_s, "
        "EXISTS (SELECT 1 FROM span s WHERE s.trial_id = t.id), t.energy_j / nullif(t.measured_epochs, 0) "
        "FROM counted_trials k JOIN trial t ON t.id = k.trial_id JOIN machine m ON m.id = t.machine_id "
        "WHERE k.experiment_id = ? ORDER BY t.id",
        "read an experiment's trials");
    q.bind(experiment);
    while (q.step()) {
        const auto cell = place.find(q.integer(0));
        if (cell == place.end()) continue;
        TrialOrigin trial{.id = q.integer(1),
                          .number = q.integer(2),
                          .uuid = q.text(3),
                          .status = trial_status(q.text(4)),
                          .reason = q.text(5),
                          .log_tail = q.text(6),
                          .started = q.text(7),
                          .machine = q.text(8),
                          .version = q.text(9),
                          .commit = q.text(10),
                          .epoch_s = q.maybe_real(11),
                          .energy_j = q.maybe_real(13),
                          .traced = q.integer(12) != 0};
        origin.cells[cell->second].trials.push_back(std::move(trial));
    }
}

RunCommand newest_command(const sqlite::Connection& c, std::int64_t experiment, const std::string& name) {
    auto q = c.prepare(
        "SELECT json_extract(provenance, '$.source') FROM trial WHERE experiment_id = ? AND "
        "json_type(provenance, '$.source') = 'object' ORDER BY id IN (SELECT trial_id FROM imported_trial), id "
        "DESC LIMIT 1",
        "look for how an experiment was run");
    q.bind(experiment);
    RunCommand command{name + ".yaml", {}, {}, false};
    if (q.step()) {
        if (const json source = stored_json(q.text(0)); source.is_object()) {
            command.file = source.value("file", command.file);
            command.profile = source.value("profile", "");
            command.overrides = source.value("overrides", std::vector<std::string>{});
            command.recorded = true;
        }
        q.reset();
    }
    return command;
}

}  // namespace

ExperimentOrigin read_origin(const std::filesystem::path& database, const std::string& experiment,
                             const std::string& where) {
    const sqlite::Connection c = open_to_read(database);
    const std::int64_t id = experiment_id(c, experiment);
    ExperimentOrigin origin;
    origin.name = experiment;
    auto q = c.prepare("SELECT spec, first_seen FROM experiment WHERE id = ?", "read an experiment");
    q.bind(id);
    if (q.step()) {
        origin.spec = q.text(0);
        origin.first_seen = q.text(1);
        q.reset();
    }
    std::map<std::int64_t, std::size_t> place;  // of a cell's row id
    add_cells(origin, c, id, cells_of(c, experiment, where), place);
    add_trials(origin, c, id, place);
    origin.command = newest_command(c, id, experiment);
    return origin;
}

std::vector<std::string> recorded_experiments(const std::filesystem::path& database) {
    std::error_code error;
    if (!std::filesystem::exists(database, error)) return {};
    const sqlite::Connection c = open_to_read(database);
    auto q = c.prepare("SELECT name FROM experiment ORDER BY id", "list experiments");
    std::vector<std::string> names;
    while (q.step()) names.push_back(q.text(0));
    return names;
}

}  // namespace gnnbench
