#include "record/compare.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>

#include "record/compare_side.hpp"
#include "record/interleaving.hpp"
#include "record/migrations.hpp"
#include "record/sqlite.hpp"

namespace gnnbench {
namespace {

/// Display fields and derived fields do not distinguish cells.
bool distinguishes_cells(const std::string& field) {
    return !field.ends_with("_label") && field != "model.depth" && !field.starts_with("dataset.");
}

using Values = std::set<std::string>;

/// Each field's values on both sides; "" of cells that lack the field.
std::map<std::string, std::pair<Values, Values>> values_of(const SideCells& a, const SideCells& b) {
    std::map<std::string, std::pair<Values, Values>> values;
    for (const SideCells* side : {&a, &b})
        for (const auto& [id, cell] : *side)
            for (const auto& [field, value] : cell.fields) values[field];
    for (auto& [field, both] : values)
        for (const auto& [side, found] : {std::pair{&a, &both.first}, std::pair{&b, &both.second}})
            for (const auto& [id, cell] : *side) found->insert(field_text(cell.fields, field));
    return values;
}

/// What the sides are compared in.
struct ComparedFields {
    std::set<std::string> all;       ///< cells are matched without these
    std::vector<std::string> named;  ///< of those, the ones whose difference is not told by another
};

/// Fields whose values on one side never occur on the other. If plugins are compared, so are all their parameters; one
/// that only one of the plugins has, or that is the same on both sides, is no difference of its own.
ComparedFields fields_compared(const SideCells& a, const SideCells& b) {
    const auto values = values_of(a, b);
    ComparedFields compared;
    for (const auto& [field, both] : values)
        if (std::ranges::none_of(both.first, [&](const std::string& v) { return both.second.contains(v); }))
            compared.all.insert(field);
    const std::set<std::string> differing = compared.all;
    std::set<std::string> implied;
    for (const char* plugin : {"scheme", "partitioner", "kernel"})
        if (differing.contains(plugin))
            for (const auto& [field, both] : values)
                if (field.starts_with(std::string(plugin) + ".")) {
                    compared.all.insert(field);
                    if (both.first.contains("") || both.second.contains("")) implied.insert(field);
                }
    for (const std::string& field : differing)
        if (distinguishes_cells(field) && !implied.contains(field)) compared.named.push_back(field);
    return compared;
}

std::string comparison_key(const SideCell& cell, const std::set<std::string>& compared) {
    std::string key;
    for (const auto& [field, value] : cell.fields)
        if (distinguishes_cells(field) && !compared.contains(field)) key += field + "=" + text_of(value) + "\n";
    return key;
}

/// Graphs of one name may differ. Where the sides are of different datasets, nothing is expected of their content.
std::string key_with_graph(const SideCell& cell, const std::set<std::string>& compared) {
    return comparison_key(cell, compared) + (compared.contains("dataset") ? "" : cell.graph);
}

std::map<std::string, const SideCell*> by_comparison_key(const SideCells& side,
                                                         const std::set<std::string>& compared, const char* name) {
    std::map<std::string, const SideCell*> all;
    for (const auto& [id, cell] : side) {
        const auto [other, first] = all.emplace(key_with_graph(cell, compared), &cell);
        if (first) continue;
        std::vector<std::string> differing;
        for (const auto& [field, value] : cell.fields) {
            const auto there = other->second->fields.find(field);
            if (distinguishes_cells(field) && (there == other->second->fields.end() || there->second != value))
                differing.push_back(fmt::format(
                    "{} ({} and {})", field,
                    there == other->second->fields.end() ? "none" : text_of(there->second), text_of(value)));
        }
        throw SpecError(
            fmt::format("side {} has several cells that match one cell of the other side; they differ "
                        "in {}. Narrow it with where:EXPR or --where",
                        name, fmt::join(differing, ", ")));
    }
    return all;
}

std::optional<std::int64_t> agreed(const SideCell& cell, std::optional<std::int64_t> SideTrial::* field) {
    std::optional<std::int64_t> value;
    for (const auto& [number, t] : cell.trials) {
        if (!(t.*field) || (value && *value != *(t.*field))) return {};
        value = t.*field;
    }
    return value;
}

std::vector<std::int64_t> trial_ids(const SideCell& cell) {
    std::vector<std::int64_t> ids;
    for (const auto& [number, t] : cell.trials) ids.push_back(t.id);
    std::ranges::sort(ids);
    return ids;
}

std::map<std::int64_t, double> epoch_s_by_id(const SideCell& cell) {
    std::map<std::int64_t, double> all;
    for (const auto& [number, t] : cell.trials) all[t.id] = t.epoch_s;
    return all;
}

/// The pairs of trials measured by turns; all trials, unpaired, where these are neither enough for a verdict nor all
/// that the smaller side has.
Samples samples_of(const SideCell& a, const SideCell& b, std::int64_t fewest) {
    const auto times_a = epoch_s_by_id(a), times_b = epoch_s_by_id(b);
    Samples paired{{}, {}, true};
    for (const auto& [of_a, of_b] : interleaved_pairs(trial_ids(a), trial_ids(b))) {
        paired.a_s.push_back(times_a.at(of_a));
        paired.b_s.push_back(times_b.at(of_b));
    }
    const std::int64_t pairs = std::ssize(paired.a_s);
    if (pairs >= fewest || pairs == std::ssize(std::min(times_a, times_b, [](const auto& x, const auto& y) {
                               return x.size() < y.size();
                           })))
        return paired;
    Samples apart{{}, {}, false};
    for (const auto& [id, epoch_s] : times_a) apart.a_s.push_back(epoch_s);
    for (const auto& [id, epoch_s] : times_b) apart.b_s.push_back(epoch_s);
    return apart;
}

/// Predictions of a model depend on no machine's hour: those of one trial number are a pair.
Samples simulated_samples(const SideCell& a, const SideCell& b) {
    Samples paired{{}, {}, true};
    for (const auto& [number, t] : a.trials)
        if (const auto other = b.trials.find(number); other != b.trials.end()) {
            paired.a_s.push_back(t.epoch_s);
            paired.b_s.push_back(other->second.epoch_s);
        }
    return paired;
}

/// Fields that distinguish the compared cells in addition to those with a column.
std::vector<std::string> other_fields(const std::vector<const SideCell*>& cells,
                                      const std::set<std::string>& compared) {
    static const std::set<std::string> shown = {"dataset", "scheme", "partitioner", "gpus"};
    std::map<std::string, std::set<std::string>> values;
    for (const SideCell* cell : cells)
        for (const auto& [field, value] : cell->fields) values[field].insert(text_of(value));
    std::vector<std::string> names;
    for (const auto& [field, all] : values)
        if (all.size() > 1 && distinguishes_cells(field) && !compared.contains(field) && !shown.contains(field) &&
            !field.starts_with("scheme.") && !field.starts_with("partitioner.") && field != "threads_per_rank")
            names.push_back(field);
    return names;
}

void refuse_common_trials(const std::string& a, std::vector<std::int64_t> trials_a, const std::string& b,
                          std::vector<std::int64_t> trials_b) {
    std::ranges::sort(trials_a);
    std::ranges::sort(trials_b);
    std::vector<std::int64_t> both;
    std::ranges::set_intersection(trials_a, trials_b, std::back_inserter(both));
    if (!both.empty())
        throw SpecError(
            fmt::format("'{}' and '{}' have {} trials in common; a trial cannot be compared with itself. Where an "
                        "experiment measured no trial of a cell's number itself, the newest of another counts: "
                        "`gnnbench run --rerun` gives it its own",
                        a, b, both.size()));
}

/// Without verdict and others, which depend on all cells.
ComparedCell compared_cell(const SideCell& a, const SideCell& b, const Samples& samples) {
    ComparedCell cell{.dataset = a.dataset,
                      .partitioner = a.partitioner,
                      .scheme_a = a.scheme,
                      .scheme_b = b.scheme,
                      .gpus = a.gpus,
                      .others = {},
                      .trials_a = std::ssize(a.trials),
                      .trials_b = std::ssize(b.trials),
                      .pairs = samples.paired ? std::ssize(samples.a_s) : 0,
                      .verdict = {},
                      .paired = samples.paired,
                      .bytes_a = agreed(a, &SideTrial::bytes),
                      .bytes_b = agreed(b, &SideTrial::bytes),
                      .messages_a = agreed(a, &SideTrial::messages),
                      .messages_b = agreed(b, &SideTrial::messages),
                      .oversubscribed = false,
                      .simulated_a = a.simulated,
                      .simulated_b = b.simulated};
    for (const SideCell* side : {&a, &b})
        for (const auto& [number, t] : side->trials) cell.oversubscribed |= t.oversubscribed;
    return cell;
}

/// "hidden=64, seed=1"
std::string others_text(const SideCell& cell, const std::vector<std::string>& fields) {
    std::vector<std::string> others;
    for (const std::string& field : fields) {
        const auto value = cell.fields.find(field);
        if (value != cell.fields.end()) others.push_back(field + "=" + text_of(value->second));
    }
    return fmt::format("{}", fmt::join(others, ", "));
}

/// Matches the cells of both sides and judges them.
void compare_cells(const SideCells& a, const SideCells& b, const CompareRules& rules, ComparedSides& result) {
    const auto [compared, named] = fields_compared(a, b);
    result.compared_fields = named;
    const auto left = by_comparison_key(a, compared, "A"), right = by_comparison_key(b, compared, "B");
    std::vector<const SideCell*> matched;
    std::vector<Samples> samples;
    std::set<std::string> names;
    for (const auto& [key, cell] : right) names.insert(comparison_key(*cell, compared));
    for (const auto& [key, cell] : left) {
        const auto other = right.find(key);
        if (other == right.end()) {
            ++result.only_a;
            result.other_graphs += names.contains(comparison_key(*cell, compared));
            continue;
        }
        matched.push_back(cell);
        const SideCell& there = *other->second;
        samples.push_back(cell->simulated && there.simulated ? simulated_samples(*cell, there)
                                                             : samples_of(*cell, there, rules.fewest));
        result.cells.push_back(compared_cell(*cell, there, samples.back()));
    }
    for (const auto& [key, cell] : right) result.only_b += !left.contains(key);
    const auto verdicts = judge(samples, rules);
    const auto fields = other_fields(matched, compared);
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
        result.cells[i].verdict = verdicts[i];
        result.cells[i].others = others_text(*matched[i], fields);
    }
    std::sort(result.cells.begin(), result.cells.end(), [](const ComparedCell& x, const ComparedCell& y) {
        return std::tie(x.dataset, x.scheme_a, x.partitioner, x.gpus, x.others) <
               std::tie(y.dataset, y.scheme_a, y.partitioner, y.gpus, y.others);
    });
}

}  // namespace

std::int64_t ComparedSides::apart() const { return std::ranges::count(cells, false, &ComparedCell::paired); }

ComparedSides compare_sides(const std::filesystem::path& database, const std::string& a, const std::string& b,
                            const std::string& where, const CompareRules& rules) {
    require_database(database);
    const sqlite::Connection c(database, sqlite::Access::read_only);
    const auto trials_a = trials_of_side(c, a, where), trials_b = trials_of_side(c, b, where);
    refuse_common_trials(a, trials_a, b, trials_b);
    const std::int64_t machine = machine_of_newest(c, trials_b);
    const SideCells side_a = read_side(c, trials_a, machine), side_b = read_side(c, trials_b, machine);
    ComparedSides result{.a = a,
                         .b = b,
                         .source_a = source_of_newest(c, trials_a),
                         .source_b = source_of_newest(c, trials_b),
                         .compared_fields = {},
                         .cells = {},
                         .machine = machine_name(c, machine)};
    result.borrowed_a = borrowed_trials(c, a, side_a);
    result.borrowed_b = borrowed_trials(c, b, side_b);
    compare_cells(side_a, side_b, rules, result);
    return result;
}

}  // namespace gnnbench
