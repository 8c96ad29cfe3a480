#include "run/experiment_run.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "core/existing_folder.hpp"
#include "core/plural.hpp"
#include "launch/interrupt.hpp"
#include "launch/process_limits.hpp"
#include "launch/shared_folder.hpp"
#include "run/job_follow.hpp"
#include "run/job_submit.hpp"
#include "run/program_permission.hpp"
#include "run/recovery.hpp"
#include "run/sweep.hpp"
#include "run/tagging.hpp"

namespace gnnbench {

namespace {

void register_cells(Database& database, const PreparedExperiment& prepared) {
    std::vector<CellRecord> records;
    for (const PreparedCell& cell : prepared.cells) records.push_back(cell.record);
    database.register_experiment(prepared.experiment.name, prepared.experiment.text, records,
                                 prepared.experiment.scaling);
}

/// Refuses an epoch that no trial reaches: it would silently leave no trace.
void check_trace_epochs(const Experiment& experiment, const std::vector<std::int64_t>& epochs) {
    for (const std::int64_t e : epochs)
        for (const Cell& cell : experiment.cells)
            if (e >= cell.warmup + cell.epochs)
                throw SpecError(
                    fmt::format("--trace-epochs {}: trials have {} epochs here, warm-up included, "
                                "counted from 0",
                                e, cell.warmup + cell.epochs));
}

void check_job_options(const LauncherChoice& launcher, const RunRequest& request) {
    if ((request.no_follow || request.cancel) && !launcher.submits())
        throw SpecError(
            fmt::format("--{} only applies to a launcher with jobs, such as sbatch; found the launcher {}",
                        request.cancel ? "cancel" : "no-follow", launcher.name));
    if (request.rules.jobs > 0 && launcher.submits() && (launcher.jobs != "array" || !launcher.has_arrays()))
        throw SpecError(
            launcher.has_arrays()
                ? fmt::format("--jobs with {} limits the elements of an array that run at once; found "
                              "launcher.jobs: {}",
                              launcher.name, launcher.jobs)
                : fmt::format(
                      "--jobs limits the elements of an array that run at once, and the launcher {} has no "
                      "arrays",
                      launcher.name));
}

/// The experiment as the request asks for it, checked.
Experiment requested_experiment(const RunRequest& request, const Catalog& catalog, const PluginSource& plugins) {
    Experiment experiment = load(request.experiment, catalog, plugins, shape_of);
    if (request.timeout_s > 0) experiment.limits.trial_timeout_s = request.timeout_s;
    require_some_cell(experiment, request.rules.plan.where);
    check_trace_epochs(experiment, request.rules.trace_epochs);
    check_job_options(experiment.launcher, request);
    return experiment;
}

/// Refuses limits of this host under which ranks would hang, and says where they share files if not in /dev/shm.
void look_at_this_host(const PreparedExperiment& prepared, const Plan& plan, Progress& progress) {
    int ranks = 0;
    for (const PlannedCell& planned : plan.cells) {
        const PreparedCell& cell = prepared.cells[planned.cell];
        if (planned.verdict != Verdict::run || cell.simulated) continue;
        ranks = std::max(ranks, cell.cell.scheme.is_program() ? 1 : cell.cell.gpus);
    }
    if (ranks == 0) return;
    if (const std::string why = why_limits_too_low(ranks); !why.empty()) throw EnvironmentError(why);
    if (const std::string remark = remark_on_shared_files(ranks); !remark.empty()) progress.message(remark);
}

/// Collects jobs of earlier runs first, so that the plan knows what they have measured. With jobs, unfinished ones
/// are followed later, with the new ones; without, as with srun, immediately, since they may hold trials that are to run.
void follow_earlier(JobFollower& jobs, const LauncherChoice& launcher, bool cancel, Progress& progress) {
    jobs.adopt();
    if (jobs.jobs() == 0) return;
    progress.message(fmt::format("following {} of an earlier run", plural(jobs.jobs(), "job")));
    jobs.poll_once();
    if (cancel) jobs.cancel();
    if (cancel || !launcher.submits()) jobs.follow();
}

/// An unfinished rerun goes on: --rerun does not begin it anew, and --no-rerun forgets it.
void settle_reruns(PlanRules& rules, bool forget, const PreparedExperiment& prepared, Database& database,
                   const std::string& machine, Progress& progress) {
    if (forget) {
        std::int64_t forgotten = 0;
        const std::vector<bool> chosen = chosen_cells(prepared.experiment, rules.where);
        for (std::size_t i = 0; i < prepared.cells.size(); ++i)
            if (chosen[i]) forgotten += database.forget_reruns(prepared.cells[i].record.digest, machine);
        progress.message(
            fmt::format("{} of an unfinished rerun are left as they are", plural(forgotten, "trial")));
    }
    const UnfinishedRerun unfinished = unfinished_rerun(prepared, rules.where, database, machine);
    if (unfinished.trials == 0) return;
    progress.message(
        fmt::format("going on with the rerun of {}: {} still to be measured again (--no-rerun forgets it)",
                    unfinished.asked.substr(0, 16), plural(unfinished.trials, "trial")));
    if (rules.again == Again::all) rules.again = Again::missing;
}

/// Submits the due trials as jobs, and follows those and the jobs of earlier runs.
SweepReport run_by_jobs(const SweepContext& context, JobFollower& jobs, bool follow) {
    SweepReport report;
    const std::vector<DueCell> due = due_cells(context, report);
    const std::size_t before = jobs.jobs();
    JobSubmission submission(context, report);
    if (auto submitted = submission.submit(due))
        jobs.add(std::move(submitted->folder), std::move(submitted->batches),
                 context.prepared.experiment.launcher.file);
    if (jobs.jobs() > before)
        context.progress.message(fmt::format("submitted {}", plural(jobs.jobs() - before, "job")));
    // Trials of earlier jobs are not another process's.
    if (before > 0) report.run_by_others = 0;
    if (follow)
        jobs.follow();
    else
        report.jobs_left = jobs.jobs();
    return report;
}

}  // namespace

RunResult run_experiment(const RunRequest& request, const RunPlaces& places, Progress& progress) {
    // Before plugins are opened, which fails, or never ends, without saying why.
    if (const std::string why = why_limits_too_low(1); !why.empty()) throw EnvironmentError(why);
    const Catalog catalog = Catalog::at(places.data_dir);
    const InstalledPlugins plugins;
    // The file is read, and all its errors reported, before anything is created on disk.
    return run_resolved(requested_experiment(request, catalog, plugins), request, places, progress);
}

RunResult run_resolved(const Experiment& experiment, const RunRequest& request, const RunPlaces& places,
                       Progress& progress) {
    const Notify notify = [&](const std::string& line) { progress.message(line); };
    const Catalog catalog = Catalog::at(places.data_dir);
    const InstalledPlugins plugins;
    require_folder_of(catalog.folder(), "--data-dir");
    if (!request.rules.export_folder.empty()) require_folder_of(request.rules.export_folder, "--export");
    SweepRules rules = request.rules;
    rules.plan.ask_programs = true;
    if (!request.cancel)
        permit_programs(started_programs(experiment, chosen_cells(experiment, rules.plan.where), plugins),
                        request.experiment.allow_programs, progress);
    Database database(places.database);
    recover(database, notify);
    const PreparedExperiment prepared = prepare(experiment, catalog, plugins, Datasets::make, notify);
    const auto launcher = make_launcher(experiment.launcher);
    const InterruptGuard interrupts;  // not before: making a dataset may simply be ended
    const int at_once = std::max(1, rules.jobs);
    TrialRunner runner(database, prepared.experiment, launcher, at_once, cores_for(*launcher, at_once));
    progress.detail(fmt::format("database {}, datasets {}", std::filesystem::absolute(places.database).string(),
                                catalog.folder().string()));
    register_cells(database, prepared);
    RunTag tag(database, prepared.experiment.name, request.tag);
    JobFollower jobs(database, runner, rules, experiment.launcher.poll_s, progress);
    if (launcher->on_other_hosts()) follow_earlier(jobs, experiment.launcher, request.cancel, progress);
    settle_reruns(rules.plan, request.forget_rerun, prepared, database, runner.machine_fingerprint(), progress);
    const Plan plan = plan_of(prepared, plugins, &database, site_of(*launcher), rules.plan);
    if (!launcher->on_other_hosts()) look_at_this_host(prepared, plan, progress);
    if (plan.stale && !rules.plan.stale)
        progress.message(
            fmt::format("{} hold{} trials of another build of gnnbench or its plugins; --stale runs those again",
                        plural(plan.stale, "cell"), plan.stale == 1 ? "s" : ""));
    SweepReport report;
    if (!InterruptGuard::requested() && !request.cancel) {
        const SweepContext context{prepared, plan, database, runner, rules, progress};
        report =
            experiment.launcher.submits() ? run_by_jobs(context, jobs, !request.no_follow) : Sweep(context).run();
    }
    report.interrupted = report.interrupted || (InterruptGuard::requested() && !request.cancel);
    report += jobs.report();
    runner.finish();
    tag.name_trials(report.trials, progress);
    return {prepared.experiment, runner.machine_fingerprint(), report, jobs.names()};
}

}  // namespace gnnbench
