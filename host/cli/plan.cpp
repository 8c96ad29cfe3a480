#include <filesystem>
#include <iostream>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/prepare.hpp"
#include "launch/machine.hpp"
#include "record/lines.hpp"

namespace gnnbench {

namespace {

using nlohmann::json;

struct PlanChoice {
    ExperimentChoice experiment;
    bool failed = false, rerun = false, as_json = false;

    Again again() const { return rerun ? Again::all : failed ? Again::failed : Again::missing; }
};

/// "2 to run, 1 there", or why it is skipped.
std::string detail(const PlannedCell& planned) {
    if (planned.verdict == Verdict::skipped) return planned.reason;
    std::vector<std::string> parts;
    if (planned.trials) parts.push_back(fmt::format("{} to run", planned.trials));
    if (planned.stored.ok) parts.push_back(fmt::format("{} there", planned.stored.ok));
    if (planned.stored.failed) parts.push_back(fmt::format("{} failed earlier", planned.stored.failed));
    if (planned.oversubscribed) parts.push_back("oversubscribed");
    return fmt::format("{}", fmt::join(parts, ", "));
}

json to_json(const PlannedCell& planned, const PreparedCell& prepared) {
    const Cell& cell = prepared.cell;
    return {{"verdict", to_text(planned.verdict)},
            {"reason", planned.reason},
            {"trials", planned.trials},
            {"ok", planned.stored.ok},
            {"failed", planned.stored.failed},
            {"oversubscribed", planned.oversubscribed},
            {"digest", planned.digest},
            {"dataset", cell.dataset.name},
            {"scheme", cell.scheme.label},
            {"partitioner", cell.partitioner.label},
            {"gpus", cell.gpus},
            {"threads_per_rank", cell.threads_per_rank},
            {"kernel", cell.kernel.name},
            {"cell", prepared.record.identity}};
}

void print_text(const Plan& plan, const PreparedExperiment& prepared) {
    TextColumns columns({"", "dataset", "scheme", "partitioner", "gpus", "trials"});
    for (const PlannedCell& planned : plan.cells) {
        const Cell& cell = prepared.cells[planned.cell].cell;
        columns.add({to_text(planned.verdict), cell.dataset.name, cell.scheme.label, cell.partitioner.label,
                     std::to_string(cell.gpus), detail(planned)});
    }
    std::cout << columns.text()
              << fmt::format("\n{} cells: {} to run ({} trials), {} present, {} skipped\n", plan.cells.size(),
                             plan.run, plan.trials, plan.present, plan.skipped);
    if (plan.unknown_dataset)
        std::cout << fmt::format(
            "{} of them on datasets that run will make first; what depends on their size is judged "
            "then\n",
            plan.unknown_dataset);
}

void print_as_json(const Plan& plan, const PreparedExperiment& prepared) {
    json cells = json::array();
    for (const PlannedCell& planned : plan.cells) cells.push_back(to_json(planned, prepared.cells[planned.cell]));
    print_json(std::cout, {{"name", prepared.experiment.name},
                           {"trials_per_cell", prepared.experiment.trials},
                           {"run", plan.run},
                           {"present", plan.present},
                           {"skipped", plan.skipped},
                           {"trials", plan.trials},
                           {"cells", std::move(cells)}});
}

int plan(const PlanChoice& choice, const GlobalOptions& options) {
    const Catalog catalog = Catalog::at(options.data_dir);
    const InstalledPlugins plugins;
    const PreparedExperiment prepared = prepare(load(choice.experiment, catalog, plugins), catalog, plugins,
                                                Datasets::only_look, [](const std::string&) {});
    std::optional<Database> database;
    std::string here;
    if (std::filesystem::exists(options.database)) {
        database.emplace(options.database);
        here = machine_fingerprint(to_json(this_machine(find_mpiexec())));
    }
    const Plan planned = plan_of(prepared, plugins, database ? &*database : nullptr, here, choice.again());
    if (choice.as_json)
        print_as_json(planned, prepared);
    else
        print_text(planned, prepared);
    return exit_ok;
}

}  // namespace

void add_plan(CLI::App& app, const GlobalOptions& options, Action& action) {
    CLI::App* command =
        app.add_subcommand("plan", "Say what would run, what is skipped and why, what is there already");
    auto choice = std::make_shared<PlanChoice>();
    add_experiment_options(*command, choice->experiment);
    command->add_flag("--failed", choice->failed, "As for run");
    command->add_flag("--rerun", choice->rerun, "As for run");
    command->add_flag("--json", choice->as_json, "As JSON");
    command->callback([&, choice] { action = [&, choice] { return plan(*choice, options); }; });
}

}  // namespace gnnbench
