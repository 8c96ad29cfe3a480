#include "spec/expand.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <unordered_set>

#include <fmt/format.h>

#include <gnnbench/usize.hpp>

#include "spec/cell_choice.hpp"
#include "spec/cell_completion.hpp"
#include "spec/launcher_file.hpp"

namespace gnnbench {
namespace {

constexpr std::int64_t most_cells = 1'000'000;
/// Rules of `exclude` and `include` times the cells of the lists: some seconds.
constexpr std::int64_t most_pairs = 100'000'000;
/// For the expressions of all rules together.
constexpr double expressions_limit_s = 60;

void assign(Draft& draft, const Assignments& all) {
    for (const Assignment& a : all) a.field->assign(draft, a.value);
}

class Expansion {
public:
    Expansion(const Outline& outline, const Draft& base, const LoadOptions& options, const PluginSource& plugins,
              Findings& findings)
        : outline_(outline), base_(base), findings_(findings), completion_(options, plugins) {}

    void run(Experiment& experiment) {
        experiment.combinations = combinations();
        if (experiment.combinations == 0) return;
        if (!outline_.excluded.empty() &&
            too_many_pairs(outline_.excluded.size(), outline_.excluded.front().place, "matrix.exclude"))
            return;
        if (!outline_.included.empty() &&
            too_many_pairs(outline_.included.size(), outline_.included.front().place, "matrix.include"))
            return;
        std::vector<Combination> all = survivors();
        std::vector<Cell> cells;  // of the first combinations, where expressions had to look at them
        leave_out_where(all, cells, experiment);
        include(all);
        if (!findings_.empty()) return;
        seen_.clear();
        experiment.cells.reserve(all.size());
        experiment.choices.reserve(all.size());
        for (std::size_t i = 0; i < all.size(); ++i) {
            const bool known = i < cells.size() && all[i].added.empty();
            Cell cell = known ? std::move(cells[i]) : make_draft(all[i]).cell;
            if (!agrees(cell) || !seen_.insert(cell_digest(cell)).second) continue;
            experiment.cells.push_back(std::move(cell));
            experiment.choices.push_back(std::move(all[i].at));
        }
        if (experiment.cells.empty() && findings_.empty() && !outline_.excluded.empty())
            findings_.add(outline_.excluded.front().place, "matrix.exclude",
                          "every cell is excluded; nothing is left");
    }

private:
    /// A choice of one value of every axis, and what `include` adds to it.
    struct Combination {
        std::vector<std::int32_t> at;  ///< all −1 if added by `include`
        std::vector<const Outline::Inclusion*> added;
    };

    std::int64_t combinations() {
        std::int64_t n = 1;
        for (const auto& v : outline_.varied) {
            n *= static_cast<std::int64_t>(v.options.size());
            if (n <= most_cells) continue;
            findings_.add(v.axis.places.front(), "matrix",
                          fmt::format("the lists multiply to more than {} cells; write "
                                      "several experiments",
                                      most_cells));
            return 0;
        }
        return n;
    }

    /// The value of `field` in a combination; nullptr if neither file nor default sets it.
    const FieldValue* value_of(const Combination& c, const Field* field) const {
        const FieldValue* found = nullptr;
        const auto look = [&](const Assignments& all) {
            for (const Assignment& a : all)
                if (a.field == field) found = &a.value;
        };
        look(outline_.fixed);
        for (std::size_t i = 0; i < c.at.size(); ++i)
            if (c.at[i] >= 0) look(outline_.varied[i].options[usize(c.at[i])]);
        return found;
    }

    /// The values of a rule, compared once with every value that a key has: a combination then looks up the answers.
    class RuleValues {
    public:
        RuleValues(const Outline& outline, const Assignments& rule) {
            for (const Assignment& a : rule) {
                Answers& answers = values_.emplace_back();
                answers.fixed = answer(outline.fixed, a) == Answer::same;
                for (std::size_t axis = 0; axis < outline.varied.size(); ++axis) {
                    std::vector<Answer> of_options;
                    for (const Assignments& option : outline.varied[axis].options)
                        of_options.push_back(answer(option, a));
                    if (std::ranges::any_of(of_options, [](Answer one) { return one != Answer::not_set; }))
                        answers.varied.emplace_back(axis, std::move(of_options));
                }
            }
        }

        bool hold_in(const Combination& c) const {
            return std::ranges::all_of(values_, [&](const Answers& answers) {
                bool holds = answers.fixed;
                for (const auto& [axis, of_options] : answers.varied)
                    if (c.at[axis] >= 0 && of_options[usize(c.at[axis])] != Answer::not_set)
                        holds = of_options[usize(c.at[axis])] == Answer::same;
                return holds;
            });
        }

    private:
        enum class Answer : char { not_set, other, same };
        struct Answers {
            bool fixed = false;                                               ///< in what does not vary
            std::vector<std::pair<std::size_t, std::vector<Answer>>> varied;  ///< by axis, for each of its values
        };

        static Answer answer(const Assignments& all, const Assignment& rule) {
            Answer found = Answer::not_set;
            for (const Assignment& a : all)
                if (a.field == rule.field) found = same(rule.value, a.value) ? Answer::same : Answer::other;
            return found;
        }

        std::vector<Answers> values_;
    };

    /// All combinations but those that `exclude` names by their values alone.
    std::vector<Combination> survivors() {
        std::vector<RuleValues> rules;
        for (const Outline::Exclusion& rule : outline_.excluded)
            if (rule.where.empty() && rule.reason.empty()) rules.emplace_back(outline_, rule.values);
        std::vector<Combination> all;
        Combination c{std::vector<std::int32_t>(outline_.varied.size(), 0), {}};
        do {
            if (std::ranges::none_of(rules, [&](const RuleValues& rule) { return rule.hold_in(c); }))
                all.push_back(c);
        } while (advance(c.at));
        return all;
    }

    /// Reports more rules than can be compared with so many cells.
    bool too_many_pairs(std::size_t rules, const Place& place, const char* key) {
        const auto pairs = static_cast<std::int64_t>(rules) * std::max<std::int64_t>(1, combinations());
        if (pairs <= most_pairs) return false;
        findings_.add(
            place, key,
            fmt::format("{} rules for {} cells are more than {} pairs; write fewer rules, for example one "
                        "with `where`, or several experiments",
                        rules, combinations(), most_pairs));
        return true;
    }

    /// Applies expressions to complete cells. Cells dropped by a rule with a reason are reported.
    void leave_out_where(std::vector<Combination>& all, std::vector<Cell>& cells, Experiment& experiment) {
        const auto asks = [](const Outline::Exclusion& rule) {
            return !rule.where.empty() || !rule.reason.empty();
        };
        if (std::none_of(outline_.excluded.begin(), outline_.excluded.end(), asks)) return;
        cells.reserve(all.size());
        for (const Combination& c : all) cells.push_back(make_draft(c).cell);
        std::vector<std::string> expressions;
        for (const Outline::Exclusion& rule : outline_.excluded)
            if (!rule.where.empty()) expressions.push_back(rule.where);
        const CellChoice choice(cells, expressions);
        std::vector<std::vector<bool>> holds;  // for each rule and cell
        const auto start = std::chrono::steady_clock::now();
        for (const Outline::Exclusion& rule : outline_.excluded) {
            holds.emplace_back(all.size(), asks(rule));
            const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
            if (spent.count() > expressions_limit_s)
                return findings_.add(
                    rule.place, "matrix.exclude",
                    fmt::format("the expressions of the rules before take longer than {} s; write "
                                "fewer rules, or several experiments",
                                expressions_limit_s));
            try {
                if (!rule.where.empty()) holds.back() = choice.where(rule.where);
            } catch (const SpecError& e) {
                findings_.add(rule.where_place, "matrix.exclude.where", e.what());
                holds.back().assign(all.size(), false);
            }
        }
        std::vector<bool> out(all.size(), false);
        for (std::size_t r = 0; r < outline_.excluded.size(); ++r) {
            const Outline::Exclusion& rule = outline_.excluded[r];
            const RuleValues values(outline_, rule.values);
            for (std::size_t i = 0; i < all.size(); ++i) {
                if (out[i] || !holds[r][i] || !values.hold_in(all[i])) continue;
                out[i] = true;
                if (seen_.insert(cell_digest(cells[i])).second)
                    experiment.excluded.push_back({std::move(cells[i]), rule.reason, rule.place});
            }
        }
        std::size_t i = 0, j = 0;
        std::erase_if(all, [&](const Combination&) { return static_cast<bool>(out[i++]); });
        std::erase_if(cells, [&](const Cell&) { return static_cast<bool>(out[j++]); });
    }

    /// As in GitHub's workflows: a rule extends every combination whose varied values it does not change; if there is
    /// none, it makes a cell of its own.
    void include(std::vector<Combination>& all) {
        const std::size_t from_lists = all.size();
        for (const Outline::Inclusion& rule : outline_.included) {
            Assignments varied;
            for (const Assignment& a : rule.values)
                if (varies(a.field)) varied.push_back(a);
            bool found = false;
            const RuleValues values(outline_, varied);
            for (std::size_t i = 0; i < from_lists; ++i) {
                if (!values.hold_in(all[i])) continue;
                all[i].added.push_back(&rule);
                found = true;
            }
            if (found) continue;
            all.push_back({std::vector<std::int32_t>(outline_.varied.size(), -1), {&rule}});
            for (const Field& f : fields()) {
                const auto sets = [&](const Assignment& a) { return a.field == &f; };
                if (f.required() && !value_of(all.back(), &f) &&
                    std::none_of(rule.values.begin(), rule.values.end(), sets))
                    findings_.add(rule.place, "matrix.include",
                                  fmt::format("matches no cell of the lists, so it makes a new cell; that needs "
                                              "'{}' too",
                                              f.path));
            }
        }
    }

    bool varies(const Field* field) const {
        for (const auto& v : outline_.varied)
            for (const Assignments& option : v.options)
                for (const Assignment& a : option)
                    if (a.field == field) return true;
        return false;
    }

    /// A plugin named without parameters matches any parameters.
    static bool same(const FieldValue& rule, const FieldValue& value) {
        if (rule.index() != value.index()) return false;
        if (const auto* plugin = std::get_if<PluginChoice>(&rule)) {
            const auto& other = std::get<PluginChoice>(value);
            return plugin->name == other.name && (plugin->label == plugin->name || plugin->label == other.label);
        }
        if (const auto* dataset = std::get_if<DatasetChoice>(&rule))
            return dataset->source == std::get<DatasetChoice>(value).source;
        return std::visit(
            [&](const auto& v) {
                using V = std::decay_t<decltype(v)>;
                if constexpr (std::is_same_v<V, PluginChoice> || std::is_same_v<V, DatasetChoice>)
                    return false;
                else
                    return v == std::get<V>(value);
            },
            rule);
    }

    Draft make_draft(const Combination& c) {
        Draft draft = base_;
        for (std::size_t i = 0; i < c.at.size(); ++i)
            if (c.at[i] >= 0) assign(draft, outline_.varied[i].options[usize(c.at[i])]);
        for (const Outline::Inclusion* rule : c.added) assign(draft, rule->values);
        completion_.complete(draft);
        return draft;
    }

    bool advance(std::vector<std::int32_t>& at) const {
        for (std::size_t i = at.size(); i-- > 0;) {
            if (++at[i] < static_cast<std::int32_t>(outline_.varied[i].options.size())) return true;
            at[i] = 0;
        }
        return false;
    }

    /// Reports keys that are valid alone but not together.
    bool agrees(const Cell& cell) {
        std::optional<Disagreement> found = disagreement(cell);
        if (!found) found = completion_.expects_without_simulating(cell);
        if (found) findings_.add(place_of(found->path), found->path, found->text);
        return !found;
    }

    Place place_of(std::string_view path) const {
        const auto in = [&](const Assignments& all) -> const Assignment* {
            for (const Assignment& a : all)
                if (path == a.field->path) return &a;
            return nullptr;
        };
        for (const auto& v : outline_.varied)
            for (const Assignments& option : v.options)
                if (const Assignment* a = in(option)) return a->place;
        for (const auto& rule : outline_.included)
            if (const Assignment* a = in(rule.values)) return a->place;
        const Assignment* fixed = in(outline_.fixed);
        return fixed ? fixed->place : Place{};
    }

    const Outline& outline_;
    const Draft& base_;
    Findings& findings_;
    CellCompletion completion_;
    std::unordered_set<std::string> seen_;
};

/// What a generated dataset's samples have in common: all but the seed.
std::string without_seed(const DatasetChoice& d) {
    nlohmann::json source = *d.source;
    if (source.contains("generate")) source.erase("seed");
    return source.dump();
}

/// Reports different datasets with the same name, which tables could not distinguish. Samples of one graph may share it:
/// tables show their seeds.
void check_dataset_names(const Outline& outline, Findings& findings) {
    std::map<std::string, std::string> sources;
    const auto check = [&](const Assignments& all) {
        for (const Assignment& a : all) {
            const auto* d = std::get_if<DatasetChoice>(&a.value);
            if (!d) continue;
            const std::string source = without_seed(*d);
            if (sources.emplace(d->name, source).first->second == source) continue;
            findings.add(a.place, "dataset",
                         fmt::format("two datasets would be shown as '{}'; give one of them a "
                                     "different name: {{…, name: …}}",
                                     d->name));
        }
    };
    if (!outline.included.empty()) check(outline.fixed);
    for (const auto& v : outline.varied)
        for (const Assignments& option : v.options) check(option);
    for (const auto& rule : outline.included) check(rule.values);
}

/// Reads the file of the launcher that the experiment names.
void find_launcher(const Outline& outline, LauncherChoice& launcher, Findings& findings) {
    const std::vector<std::string> names = launcher_names();
    if (std::ranges::find(names, launcher.name) != names.end()) {
        launcher.file = load_launcher(launcher.name);
        return;
    }
    for (const Assignment& a : outline.fixed)
        if (std::string_view(a.field->path) == "launcher.name")
            findings.add(
                a.place, a.field->path,
                fmt::format("found the text '{}'; {}", launcher.name, allowed_words(launcher.name, names)));
}

}  // namespace

void expand(const Outline& outline, const LoadOptions& options, const PluginSource& plugins,
            Experiment& experiment, Findings& findings) {
    Draft base;
    assign(base, outline.fixed);
    for (const Field* f : outline.by_default)
        if (f->access.given) base.*f->access.given = false;
    experiment.name = base.name;
    experiment.description = base.description;
    experiment.trials = base.trials;
    experiment.limits = base.limits;
    experiment.launcher = base.launcher;
    for (const auto& v : outline.varied) experiment.axes.push_back(v.axis);
    check_dataset_names(outline, findings);
    LoadOptions here = options;
    find_launcher(outline, experiment.launcher, findings);
    base.launcher = experiment.launcher;
    if (findings.empty() && base.launcher.elsewhere() && options.hosts_of) {
        const HostShape shape = options.hosts_of(base.launcher);
        here.cores = shape.cores;
        here.hosts = shape.hosts;
    }
    if (findings.empty()) Expansion(outline, base, here, plugins, findings).run(experiment);
}

}  // namespace gnnbench
