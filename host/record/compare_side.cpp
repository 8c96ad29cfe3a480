#include "record/compare_side.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "record/choice.hpp"
#include "record/experiments.hpp"
#include "record/sqlite.hpp"
#include "record/stored_json.hpp"

namespace gnnbench {

std::vector<std::int64_t> trials_of_side(const sqlite::Connection& c, const std::string& side,
                                         const std::string& where) {
    TrialChoice choice = read_choice(c, side);
    if (!where.empty())
        choice.where = choice.where.empty() ? where : fmt::format("({}) AND ({})", choice.where, where);
    std::vector<std::int64_t> trials = chosen_trials(c, choice);
    if (trials.empty())
        throw SpecError(fmt::format("no measured trial is '{}'{}", side, where.empty() ? "" : " where " + where));
    if (!choice.experiment.empty() && choice.tag.empty()) {  // an import replaces none that was measured here
        std::set<std::int64_t> imported;
        auto q = c.prepare("SELECT trial_id FROM imported_trial", "look for what was imported");
        q.bind();
        while (q.step()) imported.insert(q.integer(0));
        std::ranges::stable_partition(trials, [&](std::int64_t id) { return imported.contains(id); });
    }
    return trials;
}

std::int64_t machine_of_newest(const sqlite::Connection& c, const std::vector<std::int64_t>& trials) {
    auto q = c.prepare("SELECT machine_id FROM trial WHERE id = ?", "look for a machine");
    q.bind(trials.back());
    q.step();
    const std::int64_t machine = q.integer(0);
    q.reset();
    return machine;
}

std::string machine_name(const sqlite::Connection& c, std::int64_t machine) {
    auto name = c.prepare("SELECT coalesce(cpu, fingerprint) FROM machine WHERE id = ?", "name a machine");
    name.bind(machine);
    return name.step() ? name.text(0) : "";
}

SideSource source_of_newest(const sqlite::Connection& c, const std::vector<std::int64_t>& trials) {
    auto q =
        c.prepare("SELECT coalesce(provenance, '{}') FROM trial WHERE id = ?", "read where a trial came from");
    q.bind(trials.back());
    const nlohmann::json known = q.step() ? stored_json(q.text(0)) : nlohmann::json();
    const auto text = [](const nlohmann::json& in, const char* key) {
        const auto found = in.is_object() ? in.find(key) : in.end();
        return found != in.end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    const nlohmann::json source =
        known.is_object() && known.contains("source") ? known["source"] : nlohmann::json();
    SideSource side{.file = text(source, "file"),
                    .profile = text(source, "profile"),
                    .overrides = {},
                    .build = text(known, "build"),
                    .commit = text(known, "commit")};
    if (source.is_object() && source.contains("overrides") && source["overrides"].is_array())
        for (const nlohmann::json& one : source["overrides"])
            if (one.is_string()) side.overrides.push_back(one.get<std::string>());
    return side;
}

SideCells read_side(const sqlite::Connection& c, const std::vector<std::int64_t>& trials, std::int64_t machine) {
    auto q = c.prepare(
        "SELECT t.cell_id, t.number, t.epoch_s, t.sent_bytes_per_epoch, t.messages_per_epoch, t.oversubscribed, "
        "t.experiment_id FROM trial t "
        "WHERE t.id = ? AND t.machine_id = ? AND t.status = 'ok' AND t.epoch_s > 0",
        "read a trial");
    auto cell = c.prepare(
        "SELECT dataset, partitioner_label, scheme_label, gpus, identity, dataset_digest FROM cell "
        "WHERE id = ?",
        "read a cell");
    SideCells side;
    for (const std::int64_t id : trials) {
        q.bind(id, machine);
        if (!q.step()) continue;
        SideCell& one = side[q.integer(0)];
        if (one.trials.empty()) {
            cell.bind(q.integer(0));
            cell.step();
            one.dataset = cell.text(0);
            one.partitioner = cell.text(1);
            one.scheme = cell.text(2);
            one.gpus = static_cast<int>(cell.integer(3));
            one.fields = cell_fields(stored_json(cell.text(4)));
            one.fields["dataset"] = one.dataset;
            one.graph = cell.text(5);
            one.simulated = one.fields.contains("kernel.machine");
            cell.reset();
        }
        one.trials[q.integer(1)] = {
            id, q.integer(6), q.real(2), q.maybe_integer(3), q.maybe_integer(4), q.integer(5) != 0};
        q.reset();
    }
    return side;
}

std::int64_t borrowed_trials(const sqlite::Connection& c, const std::string& text, const SideCells& side) {
    const TrialChoice choice = read_choice(c, text);
    if (choice.experiment.empty()) return 0;
    const std::int64_t own = experiment_id(c, choice.experiment);
    std::int64_t count = 0;
    for (const auto& [id, cell] : side)
        for (const auto& [number, t] : cell.trials) count += t.experiment != own;
    return count;
}

}  // namespace gnnbench
