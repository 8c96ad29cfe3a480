#include "cli/plan_output.hpp"

#include <algorithm>
#include <iostream>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/output.hpp"
#include "data/generated_size.hpp"
#include "record/lines.hpp"
#include "report/fitted_grid.hpp"
#include "report/format.hpp"
#include "report/units.hpp"
#include "run/prepare.hpp"
#include "spec/distinctions.hpp"

namespace gnnbench {
namespace {

using nlohmann::json;

/// "2 to run, 1 there", or why it is skipped.
std::string trials_text(const PlannedCell& planned) {
    if (planned.verdict == Verdict::skipped) return planned.reason;
    std::vector<std::string> parts;
    if (planned.trials) parts.push_back(fmt::format("{} to run", planned.trials));
    if (planned.stored.ok) parts.push_back(fmt::format("{} there", planned.stored.ok));
    for (const auto& [how, trials] : planned.stored.endings)
        parts.push_back(fmt::format("{} {} earlier", trials, to_text(how)));
    if (planned.stored.rerun)
        parts.push_back(fmt::format("{} of them of an unfinished rerun", planned.stored.rerun));
    if (planned.stored.stale) parts.push_back(fmt::format("{} of another build", planned.stored.stale));
    if (planned.oversubscribed) parts.push_back("oversubscribed");
    if (planned.trials && !planned.asked_there.empty())
        parts.push_back("the kernel is asked on the compute node at run time");
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string mebibytes(const char* mark, std::int64_t bytes) {
    return fmt::format("{}{:.1f} MiB", mark, static_cast<double>(bytes) / (1 << 20));
}

/// "310.2 MiB" per rank: "≥" a lower bound for any scheme, "=" stated by this cell's scheme, "≈" from similar cells;
/// unmarked: measured for this cell.
std::string memory_text(const PlannedCell& planned, const std::optional<TrialHistory::Estimate>& estimate) {
    const std::int64_t measured = estimate ? estimate->peak_memory_bytes : 0;
    if (measured > 0 && estimate->same_cell) return mebibytes("", measured);
    if (planned.stated.device > 0) return mebibytes("= ", planned.stated.device);
    if (measured > 0) return mebibytes("≈ ", measured);
    return planned.least_memory_bytes > 0 ? mebibytes("≥ ", planned.least_memory_bytes) : "";
}

/// {"timeout": 2}
json endings_json(const Stored& stored) {
    json all = json::object();
    for (const auto& [how, trials] : stored.endings) all[to_text(how)] = trials;
    return all;
}

json to_json(const PlannedCell& planned, const PreparedCell& prepared,
             const std::optional<TrialHistory::Estimate>& estimate, std::optional<bool> kept) {
    const Cell& cell = prepared.cell;
    const auto number = [](bool known, auto value) { return known ? json(value) : json(); };
    return {{"verdict", to_text(planned.verdict)},
            {"reason", planned.reason},
            {"not_here", planned.asked_there},
            {"trials", planned.trials},
            {"ok", planned.stored.ok},
            {"failed", planned.stored.failed},
            {"endings", endings_json(planned.stored)},
            {"stale", planned.stored.stale},
            {"rerun", planned.stored.rerun},
            {"least_memory_bytes", number(planned.least_memory_bytes > 0, planned.least_memory_bytes)},
            {"stated_memory_bytes", number(planned.stated.device > 0, planned.stated.device)},
            {"stated_host_peak_bytes", number(planned.stated.host_peak > 0, planned.stated.host_peak)},
            {"stated_host_own_bytes", number(planned.stated.host_own > 0, planned.stated.host_own)},
            {"peak_memory_bytes",
             number(estimate && estimate->peak_memory_bytes > 0, estimate ? estimate->peak_memory_bytes : 0)},
            {"trial_s", number(estimate.has_value(), estimate ? estimate->trial_s : 0)},
            {"measured_before", estimate && estimate->same_cell},
            {"oversubscribed", planned.oversubscribed},
            {"digest", planned.digest},
            {"dataset", cell.dataset.name},
            {"scheme", cell.scheme.label},
            {"partitioner", cell.partitioner.label},
            {"gpus", cell.gpus},
            {"threads_per_rank", cell.threads_per_rank},
            {"kernel", cell.kernel.name},
            {"slowdown", slowdown_text(cell.slowdown)},
            {"partition_kept", number(kept.has_value(), kept.value_or(false))},
            {"cell", gnnbench::to_json(cell, JsonFor::identity)}};
}

/// "about 4m 05s", for all trials that are to run.
std::string time_text(const Plan& plan, const std::vector<std::optional<TrialHistory::Estimate>>& estimates) {
    double total_s = 0;
    std::int64_t unknown = 0;
    for (std::size_t i = 0; i < plan.cells.size(); ++i) {
        if (plan.cells[i].verdict != Verdict::run) continue;
        if (estimates[i])
            total_s += estimates[i]->trial_s * static_cast<double>(plan.cells[i].trials);
        else
            ++unknown;
    }
    if (plan.run == 0) return "";
    if (unknown == plan.run) return "no time estimate: nothing similar was measured on this machine\n";
    return fmt::format("about {}{}, without verifications, estimated from earlier trials on this machine\n",
                       duration_text(total_s),
                       unknown ? fmt::format(" and {} cells without similar measurements", unknown) : "");
}

/// The cells that the file excludes, with the reason; one line per rule.
std::string excluded_text(const Experiment& experiment) {
    std::map<std::pair<int, int>, std::pair<std::size_t, const ExcludedCell*>> rules;
    for (const ExcludedCell& cell : experiment.excluded) {
        auto& [count, first] = rules[{cell.place.line, cell.place.column}];
        ++count;
        first = &cell;
    }
    std::string text;
    for (const auto& [place, rule] : rules)
        text += fmt::format("{} more excluded at {}{}\n", rule.first, to_text(rule.second->place),
                            rule.second->reason.empty() ? "" : ": " + rule.second->reason);
    return text;
}

/// The datasets that the plan's cells need and that run will generate first, each once.
std::vector<GeneratedSize> to_generate(const Plan& plan, const PreparedExperiment& prepared) {
    std::vector<GeneratedSize> all;
    std::set<std::string> seen;
    const DatasetChoice* last = nullptr;  // most cells have the dataset of the one before
    for (const PlannedCell& planned : plan.cells) {
        const DatasetChoice& dataset = prepared.cells[planned.cell].cell.dataset;
        if (!dataset.digest.empty() || (last && last->source == dataset.source)) continue;
        last = &dataset;
        if (!dataset.source->contains("generate")) continue;
        json given = *dataset.source;
        const std::string kind = given.at("generate");
        for (const char* key : {"generate", "split", "name"}) given.erase(key);
        if (seen.insert(kind + given.dump()).second) all.push_back(generated_size(kind, given));
    }
    return all;
}

std::string size_text(std::int64_t bytes) {
    const Unit unit = byte_unit(static_cast<double>(bytes));
    return fmt::format("{} {}", in_unit(static_cast<double>(bytes), unit), unit.name);
}

std::string to_generate_text(const std::vector<GeneratedSize>& datasets) {
    std::string text;
    for (const GeneratedSize& d : datasets) {
        text += fmt::format(
            "to generate: {}, {} vertices, about {} entries, {} on disk, at least {} of memory while it "
            "is made\n",
            d.name, d.vertices, d.entries, size_text(d.store_bytes), size_text(d.peak_bytes));
        if (!d.unreachable.empty()) text += fmt::format("  {}: {}\n", d.name, d.unreachable);
    }
    return text;
}

json to_json(const GeneratedSize& d) {
    return {{"name", d.name},
            {"vertices", d.vertices},
            {"entries", d.entries},
            {"features", d.features},
            {"store_bytes", d.store_bytes},
            {"peak_bytes", d.peak_bytes},
            {"unreachable", d.unreachable}};
}

/// Each line in as many columns as a terminal has.
std::string folded_lines(const std::string& text) {
    if (output_columns() == 0) return text;
    std::string all;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        all += wrapped(std::string_view(text).substr(at, end - at), output_columns(), 2);
        at = end + 1;
    }
    return all;
}

std::string programs_text(const std::vector<StartedProgram>& programs) {
    std::string text;
    for (const StartedProgram& p : programs)
        text +=
            fmt::format("run starts {}{}\n", to_text(p), already_allowed({p}) ? "" : ", and asks for leave first");
    return text;
}

json to_json(const StartedProgram& p) {
    json files = json::array();
    for (const StartedProgram::File& f : p.files)
        files.push_back({{"path", f.path.string()}, {"sha256", f.digest}});
    return {{"words", p.words}, {"files", std::move(files)}, {"allowed", already_allowed({p})}};
}

/// How many of the cells to run find their partition made.
std::string kept_text(const Plan& plan, const std::vector<std::optional<bool>>& kept) {
    std::int64_t there = 0;
    for (std::size_t i = 0; i < kept.size(); ++i)
        there += plan.cells[i].verdict == Verdict::run && kept[i].value_or(false);
    return there == 0 ? "" : fmt::format("{} of them on partitions that are kept from earlier trials\n", there);
}

/// What distinguishes rows that agree in the columns that every plan has; a slowdown has a column of its own.
VaryingFields varying_of(const Plan& plan, const PreparedExperiment& prepared) {
    std::vector<const Cell*> cells;
    for (const PlannedCell& planned : plan.cells) cells.push_back(&prepared.cells[planned.cell].cell);
    VaryingFields varying = distinctions(cells);
    if (const auto at = std::ranges::find(varying.names, "slowdown"); at != varying.names.end()) {
        const auto column = at - varying.names.begin();
        varying.names.erase(at);
        for (auto& row : varying.values) row.erase(row.begin() + column);
    }
    return varying;
}

}  // namespace

void print_text(const ShownPlan& shown) {
    const auto& [plan, prepared, estimates, kept, programs] = shown;
    const bool slowed = std::ranges::any_of(
        plan.cells, [&](const PlannedCell& p) { return prepared.cells[p.cell].cell.slowdown.declared(); });
    std::vector<std::string> heads{"", "dataset", "scheme", "partitioner", "gpus", "memory/rank", "trials"};
    const bool hosts =
        std::ranges::any_of(plan.cells, [](const PlannedCell& p) { return p.stated.host_peak > 0; });
    if (hosts) heads.insert(heads.begin() + 6, "host/rank");
    const VaryingFields varying = varying_of(plan, prepared);
    heads.insert(heads.begin() + 5, varying.names.begin(), varying.names.end());
    if (slowed) heads.insert(heads.begin() + 5, "slowdown");
    TextColumns columns(std::move(heads));
    for (std::size_t i = 0; i < plan.cells.size(); ++i) {
        const PlannedCell& planned = plan.cells[i];
        const Cell& cell = prepared.cells[planned.cell].cell;
        std::vector<std::string> line{to_text(planned.verdict),  cell.dataset.name,
                                      cell.scheme.label,         cell.partitioner.label,
                                      std::to_string(cell.gpus), memory_text(planned, estimates[i]),
                                      trials_text(planned)};
        if (hosts)
            line.insert(line.begin() + 6,
                        planned.stated.host_peak > 0 ? mebibytes("≈ ", planned.stated.host_peak) : "");
        line.insert(line.begin() + 5, varying.values[i].begin(), varying.values[i].end());
        if (slowed) line.insert(line.begin() + 5, slowdown_text(cell.slowdown));
        columns.add(std::move(line));
    }
    std::string below =
        fmt::format("{} cells: {} to run ({} trials), {} present, {}{} skipped\n", plan.cells.size(), plan.run,
                    plan.trials, plan.present,
                    plan.failed ? fmt::format("{} failed (--failed reruns them), ", plan.failed) : "",
                    plan.skipped) +
        kept_text(plan, kept) + excluded_text(prepared.experiment) + time_text(plan, estimates);
    if (plan.stale)
        below += fmt::format(
            "{} cells hold trials of another build of gnnbench or its plugins; --stale runs those again\n",
            plan.stale);
    below += to_generate_text(to_generate(plan, prepared)) + programs_text(programs);
    if (plan.unknown_dataset)
        below += fmt::format(
            "{} of them on datasets that run will create first; checks that need their size follow then\n",
            plan.unknown_dataset);
    std::cout << columns.text() << '\n' << folded_lines(below);
}

void print_as_json(const ShownPlan& shown) {
    const auto& [plan, prepared, estimates, kept, programs] = shown;
    json cells = json::array(), excluded = json::array();
    for (std::size_t i = 0; i < plan.cells.size(); ++i)
        cells.push_back(to_json(plan.cells[i], prepared.cells[plan.cells[i].cell], estimates[i], kept[i]));
    for (const ExcludedCell& e : prepared.experiment.excluded)
        excluded.push_back({{"reason", e.reason},
                            {"at", to_text(e.place)},
                            {"cell", gnnbench::to_json(e.cell, JsonFor::identity)}});
    json datasets = json::array();
    for (const GeneratedSize& d : to_generate(plan, prepared)) datasets.push_back(to_json(d));
    json started = json::array();
    for (const StartedProgram& p : programs) started.push_back(to_json(p));
    print_json(std::cout, {{"name", prepared.experiment.name},
                           {"programs", std::move(started)},
                           {"to_generate", std::move(datasets)},
                           {"trials_per_cell", prepared.experiment.trials},
                           {"run", plan.run},
                           {"present", plan.present},
                           {"failed", plan.failed},
                           {"skipped", plan.skipped},
                           {"trials", plan.trials},
                           {"stale", plan.stale},
                           {"excluded", std::move(excluded)},
                           {"cells", std::move(cells)}});
}

}  // namespace gnnbench
