#include "run/verification_run.hpp"

#include <set>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "launch/interrupt.hpp"
#include "run/due.hpp"
#include "run/program_permission.hpp"
#include "run/recovery.hpp"

namespace gnnbench {

namespace {

VerificationRow row_of(const Cell& cell, VerificationStatus status, const std::string& reason) {
    VerificationRow row{.dataset = cell.dataset.name,
                        .scheme = cell.scheme.label,
                        .partitioner = cell.partitioner.label,
                        .kernel = cell.kernel.name,
                        .precision = cell.precision,
                        .gpus = cell.gpus,
                        .found = {}};
    row.found.status = status;
    row.found.reason = reason;
    return row;
}

/// The result of a verification, or how it ended if there is none.
VerificationRow verify_cell(const PreparedCell& cell, const Limits& limits, Database& database,
                            TrialRunner& runner, Progress& progress) {
    const std::string what = "verify " + cell_label(cell);
    progress.status(what);
    const TrialOrder order = verification_order(cell, limits, database);
    const TrialResult result = runner.run(
        order, [&](const TrialProgress& p) { progress.status(fmt::format("{}  epoch {}", what, p.epochs)); });
    VerificationRow row = row_of(cell.cell, VerificationStatus::unverified,
                                 fmt::format("its verification ended as {}{}{}", to_text(result.status),
                                             result.reason.empty() ? "" : ": ", result.reason));
    if (result.unstarted) throw EnvironmentError(what + ": " + result.reason + "; it said:\n" + result.log_tail);
    if (result.claim == ClaimState::held_by_other)
        row.found.reason = "another gnnbench verifies it now: " + result.holder;
    else if (result.status == TrialStatus::skipped)
        row = row_of(cell.cell, VerificationStatus::skipped, result.reason);
    // One that crashed is told as that, whatever an earlier one found.
    else if (result.claim == ClaimState::done_by_other || result.verification)
        row.found = database.verification(cell.record.verification_key).value_or(row.found);
    progress.message(what + ": " + to_text(row.found.status));
    return row;
}

VerificationResult verify_all(const PreparedExperiment& prepared, const Plan& plan, Database& database,
                              std::shared_ptr<const Launcher> launcher, Progress& progress) {
    TrialRunner runner(database, prepared.experiment, std::move(launcher));
    std::set<std::string> done;
    VerificationResult all;
    for (const PlannedCell& planned : plan.cells) {
        const PreparedCell& cell = prepared.cells[planned.cell];
        if (InterruptGuard::requested()) break;
        if (!done.insert(cell.record.verification_key).second) continue;
        if (planned.verdict == Verdict::skipped) {
            all.rows.push_back(row_of(cell.cell, VerificationStatus::skipped, planned.reason));
            continue;
        }
        all.rows.push_back(verify_cell(cell, prepared.experiment.limits, database, runner, progress));
        const VerificationRecord& found = all.rows.back().found;
        // An approximate scheme cannot agree with the reference; a volume other than stated counts as `failed`.
        all.all_well =
            all.all_well && (found.status == VerificationStatus::skipped || is_settled(found, cell.approximation));
    }
    runner.finish();
    return all;
}

}  // namespace

VerificationResult verify_experiment(const ExperimentChoice& choice, const std::string& where,
                                     const RunPlaces& places, Progress& progress) {
    const Notify notify = [&](const std::string& line) { progress.message(line); };
    const Catalog catalog = Catalog::at(places.data_dir);
    const InstalledPlugins plugins;
    const Experiment experiment = load(choice, catalog, plugins, shape_of);
    require_some_cell(experiment, where);
    permit_programs(started_programs(experiment, chosen_cells(experiment, where), plugins), choice.allow_programs,
                    progress);
    Database database(places.database);
    recover(database, notify);
    const PreparedExperiment prepared = prepare(experiment, catalog, plugins, Datasets::make, notify);
    const auto launcher = make_direct_launcher(experiment.launcher, "verify");
    // Tables ask under the keys of the build that ran last: this one.
    std::vector<CellRecord> records;
    for (const PreparedCell& cell : prepared.cells) records.push_back(cell.record);
    database.note_verification_keys(records);
    const InterruptGuard interrupts;
    const Plan plan = plan_of(prepared, plugins, nullptr, site_of(*launcher),
                              {.again = Again::all, .where = where, .ask_programs = true});
    VerificationResult result = verify_all(prepared, plan, database, launcher, progress);
    result.interrupted = InterruptGuard::requested();
    return result;
}

}  // namespace gnnbench
