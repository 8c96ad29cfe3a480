#include "record/compare.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>

#include "record/compare_side.hpp"
#include "record/sqlite.hpp"
#include "record/statistics.hpp"

namespace gnnbench {
namespace {

std::string text_of(const SqlValue& v) {
    if (const auto* i = std::get_if<std::int64_t>(&v)) return fmt::format("{}", *i);
    if (const auto* r = std::get_if<double>(&v)) return fmt::format("{}", *r);
    if (const auto* t = std::get_if<std::string>(&v)) return *t;
    return "";
}

/// Display fields and derived fields do not distinguish cells.
bool distinguishes_cells(const std::string& field) {
    return !field.ends_with("_label") && field != "model.depth" && !field.starts_with("dataset.");
}

/// Fields whose values on one side never occur on the other: these are compared.
std::set<std::string> fields_compared(const SideCells& a, const SideCells& b) {
    std::map<std::string, std::pair<std::set<std::string>, std::set<std::string>>> values;
    for (const auto& [id, cell] : a)
        for (const auto& [field, value] : cell.fields) values[field].first.insert(text_of(value));
    for (const auto& [id, cell] : b)
        for (const auto& [field, value] : cell.fields) values[field].second.insert(text_of(value));
    std::set<std::string> compared;
    for (const auto& [field, both] : values) {
        const auto& [left, right] = both;
        const bool shared =
            std::any_of(left.begin(), left.end(), [&](const std::string& v) { return right.contains(v); });
        if (!shared) compared.insert(field);
    }
    // If a plugin is compared, so are all its parameters.
    for (const char* plugin : {"scheme", "partitioner", "kernel"})
        if (compared.contains(plugin))
            for (const auto& [field, both] : values)
                if (field.starts_with(std::string(plugin) + ".")) compared.insert(field);
    return compared;
}

std::string comparison_key(const SideCell& cell, const std::set<std::string>& compared) {
    std::string key;
    for (const auto& [field, value] : cell.fields)
        if (distinguishes_cells(field) && !compared.contains(field)) key += field + "=" + text_of(value) + "\n";
    return key;
}

std::map<std::string, const SideCell*> by_comparison_key(const SideCells& side,
                                                         const std::set<std::string>& compared, const char* name) {
    std::map<std::string, const SideCell*> all;
    for (const auto& [id, cell] : side) {
        const auto [other, first] = all.emplace(comparison_key(cell, compared), &cell);
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

Samples samples_of(const SideCell& a, const SideCell& b, std::int64_t fewest) {
    Samples paired{{}, {}, true};
    for (const auto& [number, t] : a.trials)
        if (const auto other = b.trials.find(number); other != b.trials.end()) {
            paired.a_s.push_back(t.epoch_s);
            paired.b_s.push_back(other->second.epoch_s);
        }
    const std::size_t most = std::min(a.trials.size(), b.trials.size());
    if (paired.a_s.size() == most || static_cast<std::int64_t>(paired.a_s.size()) >= fewest) return paired;
    Samples unpaired{{}, {}, false};
    for (const auto& [number, t] : a.trials) unpaired.a_s.push_back(t.epoch_s);
    for (const auto& [number, t] : b.trials) unpaired.b_s.push_back(t.epoch_s);
    return unpaired;
}

double middle(const SideCell& cell) {
    std::vector<double> all;
    for (const auto& [number, t] : cell.trials) all.push_back(t.epoch_s);
    return median(all);
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

void refuse_common_trials(const std::string& a, const std::vector<std::int64_t>& trials_a, const std::string& b,
                          const std::vector<std::int64_t>& trials_b) {
    std::vector<std::int64_t> both;
    std::set_intersection(trials_a.begin(), trials_a.end(), trials_b.begin(), trials_b.end(),
                          std::back_inserter(both));
    if (!both.empty())
        throw SpecError(
            fmt::format("'{}' and '{}' have {} trials in common; a trial cannot be compared with itself. Where an "
                        "experiment measured no trial of a cell's number itself, the newest of another counts: "
                        "`gnnbench run --rerun` gives it its own",
                        a, b, both.size()));
}

/// Without verdict and others, which depend on all cells.
ComparedCell compared_cell(const SideCell& a, const SideCell& b, bool paired) {
    ComparedCell cell{.dataset = a.dataset,
                      .partitioner = a.partitioner,
                      .scheme_a = a.scheme,
                      .scheme_b = b.scheme,
                      .gpus = a.gpus,
                      .others = {},
                      .trials_a = std::ssize(a.trials),
                      .trials_b = std::ssize(b.trials),
                      .verdict = {},
                      .paired = paired,
                      .a_s = middle(a),
                      .b_s = middle(b),
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
    const std::set<std::string> compared = fields_compared(a, b);
    for (const std::string& field : compared)
        if (distinguishes_cells(field)) result.compared_fields.push_back(field);
    const auto left = by_comparison_key(a, compared, "A"), right = by_comparison_key(b, compared, "B");
    std::vector<const SideCell*> matched;
    std::vector<Samples> samples;
    for (const auto& [key, cell] : left) {
        const auto other = right.find(key);
        if (other == right.end()) {
            ++result.only_a;
            continue;
        }
        matched.push_back(cell);
        samples.push_back(samples_of(*cell, *other->second, rules.fewest));
        result.cells.push_back(compared_cell(*cell, *other->second, samples.back().paired));
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

ComparedSides compare_sides(const std::filesystem::path& database, const std::string& a, const std::string& b,
                            const std::string& where, const CompareRules& rules) {
    std::error_code error;
    if (!std::filesystem::exists(database, error))
        throw SpecError(
            fmt::format("there is no database {}. `gnnbench run` creates it; name another with --database.",
                        database.string()));
    const sqlite::Connection c(database, sqlite::Access::read_only);
    const auto trials_a = trials_of_side(c, a, where), trials_b = trials_of_side(c, b, where);
    refuse_common_trials(a, trials_a, b, trials_b);
    const std::int64_t machine = machine_of_newest(c, trials_b);
    const SideCells side_a = read_side(c, trials_a, machine), side_b = read_side(c, trials_b, machine);
    ComparedSides result{.a = a, .b = b, .compared_fields = {}, .cells = {}, .machine = machine_name(c, machine)};
    result.borrowed_a = borrowed_trials(c, a, side_a);
    result.borrowed_b = borrowed_trials(c, b, side_b);
    compare_cells(side_a, side_b, rules, result);
    return result;
}

}  // namespace gnnbench
