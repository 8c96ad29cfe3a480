#include "record/choice.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>
#include <gnnbench/spelling.hpp>

#include "record/cell_filter.hpp"
#include "record/experiments.hpp"
#include "record/migrations.hpp"
#include "record/sqlite.hpp"
#include "record/stored_json.hpp"

namespace gnnbench {
namespace {

bool has(const sqlite::Connection& c, const char* sql, const std::string& word) {
    auto q = c.prepare(sql, "look for what is meant");
    q.bind(word);
    const bool found = q.step();
    q.reset();
    return found;
}
bool is_tag(const sqlite::Connection& c, const std::string& word) {
    return has(c, "SELECT 1 FROM tag WHERE name = ? LIMIT 1", word);
}
bool is_experiment(const sqlite::Connection& c, const std::string& word) {
    return has(c, "SELECT 1 FROM experiment WHERE name = ?", word);
}
bool is_commit(const sqlite::Connection& c, const std::string& word) {
    return word.size() >= 4 && word.find_first_not_of("0123456789abcdef") == std::string::npos &&
           has(c, "SELECT 1 FROM trial WHERE json_extract(provenance, '$.commit') LIKE ?1 || '%' LIMIT 1", word);
}

std::vector<std::string> names(const sqlite::Connection& c, const char* sql) {
    auto q = c.prepare(sql, "list what there is");
    q.bind();
    std::vector<std::string> all;
    while (q.step()) all.push_back(q.text(0));
    return all;
}

void check_tag(const sqlite::Connection& c, const std::string& tag) {
    if (is_tag(c, tag)) return;
    const auto known = names(c, "SELECT DISTINCT name FROM tag ORDER BY name");
    throw SpecError(fmt::format(
        "no trial is tagged '{}'; tags: {}", tag,
        known.empty() ? "none (gnnbench results tag adds them)" : fmt::format("{}", fmt::join(known, ", "))));
}

}  // namespace

std::set<std::int64_t> cells_where(const sqlite::Connection& c, const std::string& where) {
    std::vector<CellFields> fields;
    std::vector<std::int64_t> ids;
    auto q = c.prepare("SELECT id, identity FROM cell", "read cells");
    q.bind();
    while (q.step()) {
        ids.push_back(q.integer(0));
        fields.push_back(cell_fields(stored_json(q.text(1))));
    }
    const std::vector<bool> chosen = CellFilter(fields).where(where);
    std::set<std::int64_t> found;
    for (std::size_t i = 0; i < ids.size(); ++i)
        if (chosen[i]) found.insert(ids[i]);
    return found;
}

std::set<std::int64_t> cells_of(const sqlite::Connection& c, const std::string& experiment,
                                const std::string& where) {
    auto q =
        c.prepare("SELECT cell_id FROM experiment_cell WHERE experiment_id = ?", "read an experiment's cells");
    q.bind(experiment_id(c, experiment));
    std::set<std::int64_t> all;
    while (q.step()) all.insert(q.integer(0));
    if (where.empty()) return all;
    std::set<std::int64_t> chosen, fitting = cells_where(c, where);
    std::ranges::set_intersection(all, fitting, std::inserter(chosen, chosen.end()));
    return chosen;
}

TrialChoice read_choice(const sqlite::Connection& c, const std::string& text) {
    TrialChoice choice;
    for (std::size_t at = 0; at <= text.size();) {
        const bool where = text.compare(at, 6, "where:") == 0;
        const std::size_t end = where ? text.size() : std::min(text.find(',', at), text.size());
        const std::string term = text.substr(at, end - at);
        const std::size_t colon = term.find(':');
        const std::string kind = term.substr(0, colon),
                          value = colon == std::string::npos ? "" : term.substr(colon + 1);
        if (where)
            choice.where = value;
        else if (kind == "tag" && !value.empty())
            choice.tag = value;
        else if (kind == "experiment" && !value.empty())
            choice.experiment = value;
        else if (kind == "commit" && !value.empty())
            choice.commit = value;
        else if (is_tag(c, term))
            choice.tag = term;
        else if (is_experiment(c, term))
            choice.experiment = term;
        else if (is_commit(c, term))
            choice.commit = term;
        else {
            auto known = names(c, "SELECT name FROM experiment UNION SELECT name FROM tag ORDER BY 1");
            throw SpecError(fmt::format(
                "'{}' is not a tag, an experiment or a commit of a trial here; there are: {}{}. Or use "
                "tag:…, experiment:…, commit:…, where:EXPR, with commas between",
                term, known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")),
                did_you_mean(term, known)));
        }
        at = end + 1;
    }
    return choice;
}

namespace {

std::int64_t trial_with(const sqlite::Connection& c, const std::string& begins) {
    // UUIDs are hex digits and '-', so 'g' comes after all that begin alike; a whole UUID comes before those it
    // begins.
    auto q = c.prepare("SELECT id, uuid FROM trial WHERE uuid >= ?1 AND uuid < ?1 || 'g' ORDER BY uuid LIMIT 2",
                       "look for a trial");
    q.bind(begins);
    std::vector<std::pair<std::int64_t, std::string>> found;
    while (q.step()) found.emplace_back(q.integer(0), q.text(1));
    if (begins.empty() || found.empty())
        throw SpecError(fmt::format("there is no trial '{}' in {}; `gnnbench results list` lists them.", begins,
                                    c.path().string()));
    if (found.size() > 1 && found[0].second != begins)
        throw SpecError(fmt::format("several trials begin with '{}'; give more of its UUID.", begins));
    return found[0].first;
}

std::string uuid_of(const sqlite::Connection& c, std::int64_t trial) {
    auto q = c.prepare("SELECT uuid FROM trial WHERE id = ?", "name a trial");
    q.bind(trial);
    return q.step() ? q.text(0) : "";
}

}  // namespace

std::string whole_uuid(const std::filesystem::path& database, const std::string& begins) {
    require_database(database);
    const sqlite::Connection c(database, sqlite::Access::read_only);
    return uuid_of(c, trial_with(c, begins));
}

std::vector<std::int64_t> chosen_trials(const sqlite::Connection& c, const TrialChoice& choice) {
    std::string sql = "SELECT t.id, t.cell_id FROM trial t WHERE t.purpose = 'measure'";
    std::vector<std::string> bound;
    if (!choice.experiment.empty())
        sql += fmt::format(
            " AND t.cell_id IN (SELECT cell_id FROM experiment_cell WHERE experiment_id = {0}) AND "
            "(t.experiment_id = {0} OR NOT EXISTS (SELECT 1 FROM trial o WHERE o.cell_id = t.cell_id "
            "AND o.machine_id = t.machine_id AND o.number = t.number AND o.purpose = 'measure' "
            "AND o.experiment_id = {0} AND o.status NOT IN ('running', 'interrupted', 'skipped')))",
            experiment_id(c, choice.experiment));
    if (!choice.tag.empty()) {
        check_tag(c, choice.tag);
        bound.push_back(choice.tag);
        sql += fmt::format(" AND t.id IN (SELECT trial_id FROM tag WHERE name = ?{})", bound.size());
    }
    if (!choice.commit.empty()) {
        bound.push_back(choice.commit);
        sql += fmt::format(" AND json_extract(t.provenance, '$.commit') LIKE ?{} || '%'", bound.size());
    }
    std::set<std::int64_t> named;
    for (const std::string& begins : choice.trials) named.insert(trial_with(c, begins));
    const std::set<std::int64_t> cells =
        choice.where.empty() ? std::set<std::int64_t>() : cells_where(c, choice.where);
    auto q = c.prepare(sql + " ORDER BY t.id", "choose trials");
    for (std::size_t i = 0; i < bound.size(); ++i) q.bind_value(static_cast<int>(i) + 1, bound[i]);
    std::vector<std::int64_t> found;
    while (q.step()) {
        if (!choice.trials.empty() && !named.contains(q.integer(0))) continue;
        if (!choice.where.empty() && !cells.contains(q.integer(1))) continue;
        found.push_back(q.integer(0));
    }
    return found;
}

std::vector<std::string> chosen_uuids(const std::filesystem::path& database, const TrialChoice& choice) {
    const sqlite::Connection c(database, sqlite::Access::read_only);
    std::vector<std::string> uuids;
    for (const std::int64_t id : chosen_trials(c, choice)) uuids.push_back(uuid_of(c, id));
    return uuids;
}

TagResult tag_trials(Database& database, const std::string& name, const TrialChoice& choice, bool remove) {
    sqlite::Connection& c = database.connection();
    sqlite::Transaction transaction(c);
    auto change = c.prepare(remove ? "DELETE FROM tag WHERE name = ? AND trial_id = ?"
                                   : "INSERT INTO tag VALUES (?, ?) ON CONFLICT DO NOTHING",
                            "tag a trial");
    TagResult result;
    for (const std::int64_t id : chosen_trials(c, choice)) {
        change.run(name, id);
        ++result.meant;
        result.changed += c.changes();
    }
    transaction.commit();
    return result;
}

}  // namespace gnnbench
