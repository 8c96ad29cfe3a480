#include <iostream>
#include <set>

#include <fmt/format.h>

#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/sweep.hpp"
#include "launch/interrupt.hpp"

namespace gnnbench {

namespace {

using nlohmann::json;

struct VerifyChoice {
    ExperimentChoice experiment;
    bool as_json = false;
};

/// How one combination came out.
struct Checked {
    const PreparedCell* cell;
    VerificationRecord record;  ///< status `skipped` where it cannot run here
};

std::string error_text(const std::optional<double>& error) { return error ? fmt::format("{:.1e}", *error) : "-"; }
std::string volume_text(const std::optional<bool>& equal) { return !equal ? "-" : *equal ? "equal" : "DIFFERS"; }

json to_json(const Checked& checked) {
    const Cell& cell = checked.cell->cell;
    const VerificationRecord& record = checked.record;
    return {{"dataset", cell.dataset.name},
            {"scheme", cell.scheme.label},
            {"partitioner", cell.partitioner.label},
            {"gpus", cell.gpus},
            {"kernel", cell.kernel.name},
            {"precision", cell.precision},
            {"status", record.status},
            {"reason", record.reason},
            {"loss_error", record.loss_error ? json(*record.loss_error) : json()},
            {"gradient_error", record.gradient_error ? json(*record.gradient_error) : json()},
            {"volume_equal", record.volume_equal ? json(*record.volume_equal) : json()},
            {"sampled_vertices", record.sampled_vertices},
            {"detail", record.detail}};
}

void print_text(const std::vector<Checked>& all) {
    TextColumns columns(
        {"dataset", "scheme", "partitioner", "gpus", "loss error", "gradient error", "volume", "status"});
    for (const Checked& checked : all) {
        const Cell& cell = checked.cell->cell;
        const VerificationRecord& record = checked.record;
        const std::string sampled =
            record.sampled_vertices ? fmt::format(" (on {} vertices)", record.sampled_vertices) : "";
        const std::string reason =
            record.reason.empty() ? "" : ": " + record.reason.substr(0, record.reason.find('\n'));
        columns.add({cell.dataset.name, cell.scheme.label, cell.partitioner.label, std::to_string(cell.gpus),
                     error_text(record.loss_error), error_text(record.gradient_error),
                     volume_text(record.volume_equal), record.status + sampled + reason});
    }
    std::cout << columns.text();
}

/// Every combination once, whatever was found before.
std::vector<Checked> verify_all(const PreparedExperiment& prepared, const Plan& plan, Database& database,
                                Progress& progress) {
    TrialRunner runner(database, prepared.experiment.name);
    std::set<std::string> done;
    std::vector<Checked> all;
    for (const PlannedCell& planned : plan.cells) {
        const PreparedCell& cell = prepared.cells[planned.cell];
        const std::string& key = cell.record.verification_key;
        if (!done.insert(key).second) continue;
        if (!planned.reason.empty()) {
            all.push_back({&cell, {}});
            all.back().record.status = "skipped";
            all.back().record.reason = planned.reason;
            continue;
        }
        progress.status("verify " + cell_label(cell.cell));
        const TrialOrder order =
            verification_order(cell, prepared.experiment.limits, reference_cache(database.path()));
        const TrialResult result = runner.run(order, [&](const TrialProgress& p) {
            progress.status(fmt::format("verify {}  epoch {}", cell_label(cell.cell), p.epochs));
        });
        if (result.status == "interrupted") break;
        VerificationRecord record;
        if (const auto known = database.verification(key)) record = *known;
        if (result.claim == ClaimState::held_by_other) {
            record = {};
            record.status = "unverified";
            record.reason = "another gnnbench verifies it now: " + result.holder;
        }
        progress.message(fmt::format("verify {}: {}", cell_label(cell.cell), record.status));
        all.push_back({&cell, std::move(record)});
    }
    runner.finish();
    return all;
}

int verify(const VerifyChoice& choice, const GlobalOptions& options) {
    Progress progress;
    const Say say = [&](const std::string& line) { progress.message(line); };
    const Catalog catalog = Catalog::at(options.data_dir);
    const InstalledPlugins plugins;
    const Experiment experiment = load(choice.experiment, catalog, plugins);
    Database database(options.database);
    recover(database, say);
    const PreparedExperiment prepared = prepare(experiment, catalog, plugins, Datasets::make, say);
    const InterruptGuard interrupts;
    const std::vector<Checked> all =
        verify_all(prepared, plan_of(prepared, plugins, nullptr, "", Again::all), database, progress);
    bool all_well = true;
    json list = json::array();
    for (const Checked& checked : all) {
        const bool approximate = !checked.cell->approximation.empty() && checked.record.status == "unverified";
        all_well =
            all_well && (approximate || checked.record.status == "verified" || checked.record.status == "skipped");
        list.push_back(to_json(checked));
    }
    if (choice.as_json)
        print_json(std::cout, list);
    else
        print_text(all);
    if (InterruptGuard::requested()) return exit_interrupted;
    return all_well ? exit_ok : exit_cell_failed;
}

}  // namespace

void add_verify(CLI::App& app, const GlobalOptions& options, Action& action) {
    CLI::App* command = app.add_subcommand(
        "verify", "Compare every cell with the serial float64 reference, and its volume with the stated one");
    auto choice = std::make_shared<VerifyChoice>();
    add_experiment_options(*command, choice->experiment);
    command->add_flag("--json", choice->as_json, "As JSON");
    command->callback([&, choice] { action = [&, choice] { return verify(*choice, options); }; });
}

}  // namespace gnnbench
