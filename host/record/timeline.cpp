#include "record/timeline.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "record/choice.hpp"
#include "record/migrations.hpp"
#include "record/sqlite.hpp"
#include "record/stored_json.hpp"
#include "record/varying.hpp"

namespace gnnbench {
namespace {

constexpr const char* how_to_trace =
    "`gnnbench run --trace` records them; of trials that are there already with "
    "--rerun";

/// The id of the one trial whose UUID begins so.
std::int64_t trial_id(const sqlite::Connection& c, const std::string& begins) {
    auto q = c.prepare(
        "SELECT id, uuid FROM trial WHERE length(?1) > 0 AND substr(uuid, 1, length(?1)) = ?1 "
        "ORDER BY uuid LIMIT 2",  // a whole UUID comes before those that it begins
        "look for a trial");
    q.bind(begins);
    std::vector<std::int64_t> ids;
    while (q.step()) {
        if (q.text(1) == begins) return q.integer(0);
        ids.push_back(q.integer(0));
    }
    if (ids.empty())
        throw SpecError(
            fmt::format("there is no trial '{}' in {}; `gnnbench query \"SELECT trial, scheme, started "
                        "FROM trials\"` lists them.",
                        begins, c.path().string()));
    if (ids.size() > 1)
        throw SpecError(fmt::format("several trials begin with '{}'; give more of its UUID.", begins));
    return ids.front();
}

std::vector<std::int64_t> traced_epochs(const sqlite::Connection& c, std::int64_t trial) {
    auto q = c.prepare("SELECT DISTINCT epoch FROM span WHERE trial_id = ? ORDER BY epoch", "look for spans");
    q.bind(trial);
    std::vector<std::int64_t> epochs;
    while (q.step()) epochs.push_back(q.integer(0));
    return epochs;
}

std::int64_t chosen_epoch(const std::vector<std::int64_t>& traced, std::optional<std::int64_t> epoch,
                          const std::string& trial) {
    if (traced.empty()) throw SpecError(fmt::format("trial {} has no spans. {}.", trial, how_to_trace));
    if (!epoch) return traced.back();
    std::string known;
    for (const std::int64_t e : traced) {
        if (e == *epoch) return e;
        known += fmt::format("{}{}", known.empty() ? "" : ", ", e);
    }
    throw SpecError(fmt::format("trial {} has no spans of epoch {}; traced were: {}.", trial, *epoch, known));
}

Timeline described(const sqlite::Connection& c, std::int64_t trial) {
    auto q = c.prepare(
        "SELECT t.uuid, x.name, c.dataset, c.scheme_label, c.partitioner_label, c.kernel, coalesce(m.cpu, ''), "
        "t.started, c.gpus, c.threads_per_rank, t.oversubscribed, "
        "iif(c.kernel = 'simulated' AND json_valid(c.identity), "
        "coalesce(json_extract(c.identity, '$.kernel.params.machine'), ''), '') FROM trial t JOIN cell c ON c.id "
        "= t.cell_id "
        "JOIN experiment x ON x.id = t.experiment_id JOIN machine m ON m.id = t.machine_id WHERE t.id = ?",
        "read a trial");
    q.bind(trial);
    q.step();
    return {.trial = q.text(0),
            .experiment = q.text(1),
            .dataset = q.text(2),
            .scheme = q.text(3),
            .partitioner = q.text(4),
            .kernel = q.text(5),
            .machine = q.text(6),
            .started = q.text(7),
            .ranks = q.integer(8),
            .threads_per_rank = q.integer(9),
            .oversubscribed = q.integer(10) != 0,
            .simulated_on = q.text(11),
            .spans = {}};
}

}  // namespace

namespace {

struct TracedCell {
    std::int64_t id = 0, gpus = 0;
    std::string scheme, partitioner, dataset;
    CellFields fields;
    struct Trial {
        std::int64_t id;
        std::string uuid;
        std::optional<double> epoch_s;
    };
    std::map<std::int64_t, Trial> by_number;  ///< the newest of each

    /// By time; those that did not end well, by age, only where there are no others.
    std::vector<Trial> candidates() const {
        std::vector<Trial> all;
        for (const auto& [number, trial] : by_number) all.push_back(trial);
        const bool any_ended = std::ranges::any_of(all, [](const Trial& t) { return t.epoch_s.has_value(); });
        if (any_ended) std::erase_if(all, [](const Trial& t) { return !t.epoch_s; });
        std::ranges::sort(all, {}, [](const Trial& t) { return std::pair(t.epoch_s.value_or(0), t.id); });
        return all;
    }
    Trial median() const {
        const std::vector<Trial> all = candidates();
        return all.front().epoch_s ? all[(all.size() - 1) / 2] : all.back();
    }
};

/// The experiment's cells with spans, by their rows.
std::vector<TracedCell> traced_cells(const sqlite::Connection& c, const std::string& experiment) {
    auto q = c.prepare(
        "SELECT c.id, c.gpus, c.scheme_label, c.partitioner_label, c.dataset, c.identity, t.number, t.id, t.uuid, "
        "iif(t.status = 'ok', t.epoch_s, NULL) FROM trial t "
        "JOIN cell c ON c.id = t.cell_id JOIN experiment x ON x.id = t.experiment_id "
        "WHERE x.name = ? AND EXISTS (SELECT 1 FROM span s WHERE s.trial_id = t.id) ORDER BY c.id, t.id",
        "look for traced trials");
    q.bind(experiment);
    std::vector<TracedCell> cells;
    while (q.step()) {
        if (cells.empty() || cells.back().id != q.integer(0))
            cells.push_back({.id = q.integer(0),
                             .gpus = q.integer(1),
                             .scheme = q.text(2),
                             .partitioner = q.text(3),
                             .dataset = q.text(4),
                             .fields = cell_fields(stored_json(q.text(5))),
                             .by_number = {}});
        cells.back().by_number[q.integer(6)] = {q.integer(7), q.text(8), q.maybe_real(9)};
    }
    return cells;
}

/// What distinguishes each of the cells from others with the same labels.
std::vector<std::string> others_of(const std::vector<TracedCell>& cells) {
    std::vector<std::string> places;
    std::vector<CellFields> fields;
    for (const TracedCell& cell : cells) {
        places.push_back(fmt::format("{}\n{}\n{}\n{}", cell.dataset, cell.partitioner, cell.scheme, cell.gpus));
        fields.push_back(cell.fields);
    }
    const VaryingFields varying = varying_fields(places, fields);
    std::vector<std::string> all;
    for (const auto& values : varying.values) all.push_back(named_values(varying.names, values));
    return all;
}

}  // namespace

TracedTrial traced_trial(const std::filesystem::path& database, const std::string& experiment,
                         const std::string& where) {
    const sqlite::Connection c = open_to_read(database);
    std::vector<TracedCell> cells = traced_cells(c, experiment);
    if (!where.empty()) {
        const std::set<std::int64_t> chosen = cells_where(c, where);
        std::erase_if(cells, [&](const TracedCell& cell) { return !chosen.contains(cell.id); });
    }
    if (cells.empty())
        throw SpecError(fmt::format("no trial of the experiment '{}'{} has spans. {}.", experiment,
                                    where.empty() ? "" : " that fits --where", how_to_trace));
    const auto preference = [](const TracedCell& cell) {
        const auto time = cell.median().epoch_s;
        return std::tuple(!time.has_value(), -cell.gpus, time.value_or(0), cell.id);
    };
    const auto best = std::ranges::min_element(cells, {}, preference);
    const TracedCell::Trial trial = best->median();
    return {.trial = trial.uuid,
            .scheme = best->scheme,
            .partitioner = best->partitioner,
            .dataset = best->dataset,
            .others = others_of(cells)[static_cast<std::size_t>(best - cells.begin())],
            .gpus = best->gpus,
            .cells = std::ssize(cells),
            .widest = std::ranges::count(cells, best->gpus, &TracedCell::gpus),
            .trials = std::ssize(best->by_number),
            .epoch_s = trial.epoch_s};
}

Timeline read_timeline(const std::filesystem::path& database, const std::string& trial,
                       std::optional<std::int64_t> epoch) {
    const sqlite::Connection c = open_to_read(database);
    const std::int64_t id = trial_id(c, trial);
    Timeline t = described(c, id);
    t.epoch = chosen_epoch(traced_epochs(c, id), epoch, t.trial);
    auto wall = c.prepare("SELECT wall_s FROM epoch WHERE trial_id = ? AND epoch = ?", "read an epoch");
    wall.bind(id, t.epoch);
    if (wall.step()) t.wall_s = wall.real(0);
    auto q = c.prepare(
        "SELECT rank, stream, phase, operation, begin_s, end_s, bytes, group_size FROM span "
        "WHERE trial_id = ? AND epoch = ? ORDER BY rank, begin_s, number",
        "read an epoch's spans");
    q.bind(id, t.epoch);
    while (q.step())
        t.spans.push_back({.rank = q.integer(0),
                           .communicates = q.text(1) == "communication",
                           .phase = q.text(2),
                           .operation = q.text(3),
                           .begin_s = q.real(4),
                           .end_s = q.real(5),
                           .bytes = q.integer(6),
                           .group_size = q.integer(7)});
    return t;
}

}  // namespace gnnbench
