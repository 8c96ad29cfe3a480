#include <filesystem>
#include <iostream>
#include <map>
#include <optional>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/strategy.hpp>

#include "cli/counted_work.hpp"
#include "cli/experiment_options.hpp"
#include "cli/folder_experiments.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/plan.hpp"
#include "cli/plan_output.hpp"
#include "cli/project.hpp"
#include "cli/say.hpp"
#include "data/checked_store.hpp"
#include "partition/cache.hpp"
#include "record/trial_history.hpp"
#include "run/prepare.hpp"
#include "run/progress.hpp"
#include "run/program_permission.hpp"
#include "run/stated_memory.hpp"
#include "spec/partition_key.hpp"
#include "spec/setting.hpp"

namespace gnnbench {

namespace {

struct PlanChoice {
    ExperimentChoice experiment;
    PlanRules rules;
    bool as_json = false, with_memory = false;
    bool one_of_many = false;  ///< experiments of a folder, of which some may have no cell that fits
};

TrialHistory::Setting setting_of(const PreparedCell& prepared) {
    const Cell& c = prepared.cell;
    return {.cell_digest = prepared.record.digest,
            .dataset_digest = c.dataset.digest,
            .scheme = c.scheme.name,
            .kernel = c.kernel.name,
            .hidden = c.model.widths,
            .gpus = c.gpus,
            .epochs = c.warmup + c.epochs};
}

/// Whether the partition that a cell's trials need was made earlier; nothing where that is not known yet.
std::optional<bool> partition_kept(const Cell& cell, const PluginSource& plugins) {
    if (cell.scheme.is_program() || cell.dataset.digest.empty() || cell.dataset.store.empty()) return {};
    const auto plugin = plugins.find(PluginKind::partitioner, cell.partitioner.name);
    const Question q(cell, {});
    const Setting setting{cell.gpus, q.model, q.train, cell.scheme.params};
    const Strategy& strategy = plugins.strategy(cell.scheme.name);
    if (!plugin || !strategy.why_unsupported(setting).empty()) return {};
    const PartitionCache cache(partition_folder(cell.dataset.store));
    return cache.holds(partition_key(cell, strategy.partition_need(setting), plugin->file));
}

/// Whether the memory that a cell's ranks hold can be stated: by a plugin, of a graph that is there.
bool is_askable(const Cell& cell) {
    return !cell.scheme.is_program() && !cell.dataset.digest.empty() && !cell.dataset.store.empty();
}

std::size_t askable(const PreparedExperiment& prepared, const std::string& where) {
    const std::vector<bool> chosen = chosen_cells(prepared.experiment, where);
    std::size_t count = 0;
    for (std::size_t i = 0; i < chosen.size(); ++i) count += chosen[i] && is_askable(prepared.cells[i].cell);
    return count;
}

/// The plan, with what each cell's largest rank holds as its scheme states it.
Plan plan_with_memory(const PreparedExperiment& prepared, const PluginSource& plugins, const Database* database,
                      const Site& site, const PlanRules& rules) {
    std::map<std::string, Store> stores;
    Progress progress;
    CountedWork asked(progress, "memory of cell", askable(prepared, rules.where));
    const auto stated = [&](const Cell& cell) -> StatedMemory {
        const std::string& folder = cell.dataset.store;
        if (!is_askable(cell)) return {};
        asked.next(cell_label(cell));
        if (!stores.contains(folder)) stores.emplace(folder, open_checked(folder, say));
        try {
            return stated_memory_of(cell, stores.at(folder), plugins, prepared.experiment.limits.trial_timeout_s);
        } catch (const Error& e) {
            progress.problem(fmt::format("gnnbench: {} on {} gpus: what it holds is not known: {}",
                                         cell.scheme.label, cell.gpus, e.what()));
            return {};
        }
    };
    return plan_of(prepared, plugins, database, site, rules, stated);
}

int plan_one(const PlanChoice& choice, Experiment experiment, const GlobalOptions& options) {
    const Catalog catalog = Catalog::at(options.data_dir);
    const InstalledPlugins plugins;
    if (!choice.one_of_many) require_some_cell(experiment, choice.rules.where);
    // What 10,000 cells hold takes long to give back piece by piece; the process ends soon.
    static auto& kept_to_the_end = *new std::vector<const PreparedExperiment*>;
    kept_to_the_end.push_back(new PreparedExperiment(
        prepare(std::move(experiment), catalog, plugins, Datasets::only_look, [](const std::string&) {})));
    const PreparedExperiment& prepared = *kept_to_the_end.back();
    std::optional<Database> database;
    Site site = this_host();
    if (std::filesystem::exists(options.database)) database.emplace(Database::for_reading(options.database));
    if (database || prepared.experiment.launcher.elsewhere())
        site = site_of(*make_launcher(prepared.experiment.launcher));
    PlanRules rules = choice.rules;
    // As run does: what was begun goes on.
    if (database && rules.again == Again::all &&
        unfinished_rerun(prepared, rules.where, *database, site.fingerprint).trials > 0)
        rules.again = Again::missing;
    const Database* known = database ? &*database : nullptr;
    const Plan planned = choice.with_memory ? plan_with_memory(prepared, plugins, known, site, rules)
                                            : plan_of(prepared, plugins, known, site, rules);
    std::vector<std::optional<TrialHistory::Estimate>> estimates(planned.cells.size());
    if (database) {
        const TrialHistory history(*database, site.fingerprint);
        for (std::size_t i = 0; i < estimates.size(); ++i)
            estimates[i] = history.of(setting_of(prepared.cells[planned.cells[i].cell]));
    }
    std::vector<std::optional<bool>> kept;
    for (const PlannedCell& cell : planned.cells)
        kept.push_back(partition_kept(prepared.cells[cell.cell].cell, plugins));
    const ShownPlan shown{.plan = planned,
                          .prepared = prepared,
                          .estimates = std::move(estimates),
                          .kept = std::move(kept),
                          .programs = started_programs(prepared.experiment,
                                                       chosen_cells(prepared.experiment, rules.where), plugins)};
    choice.as_json ? print_as_json(shown) : print_text(shown);
    return exit_ok;
}

int plan(const PlanChoice& choice, const GlobalOptions& options) {
    FolderExperiments all(choice.experiment, options, shape_of);
    if (all.is_folder() && choice.as_json)
        throw SpecError(fmt::format("--json prints one plan; {} has {} experiments",
                                    choice.experiment.file.string(), all.files()));
    Progress progress;
    name_places(options, progress);
    PlanChoice one = choice;
    one.one_of_many = all.is_folder();
    for (FolderExperiments::One& read : all.readable()) {
        if (all.is_folder())
            std::cout << (&read == &all.readable().front() ? "" : "\n") << read.choice.file.string() << ":\n\n";
        one.experiment = read.choice;
        if (all.is_folder()) chosen_cells(read.experiment, choice.rules.where);  // its error is the command's
        try {
            plan_one(one, std::move(read.experiment), options);
        } catch (const Error&) {
            all.failed(read.choice.file);
        }
    }
    return all.conclude(exit_ok);
}

}  // namespace

int show_plan(const ExperimentChoice& experiment, const PlanRules& rules, const GlobalOptions& options) {
    return plan({.experiment = experiment, .rules = rules}, options);
}

void add_plan(CLI::App& app, const GlobalOptions& options, Action& action) {
    CLI::App* command =
        app.add_subcommand("plan", "Show what would run, what is skipped and why, and what exists already");
    auto choice = std::make_shared<PlanChoice>();
    add_experiment_options(*command, choice->experiment);
    add_plan_options(*command, choice->rules);
    command->add_flag("--json", choice->as_json, "As JSON");
    command->add_flag(
        "--memory", choice->with_memory,
        "Ask each scheme what its largest rank will hold: on its device, sparse matrices not included, and in its "
        "process on the host, at the peak of set-up and training. Reads the graph, and makes and keeps partitions "
        "that are not kept yet");
    command->callback([&, choice] { action = [&, choice] { return plan(*choice, options); }; });
}

}  // namespace gnnbench
