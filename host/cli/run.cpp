#include <algorithm>
#include <chrono>
#include <iostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>

#include "cli/definitions.hpp"
#include "cli/formats.hpp"
#include "cli/job_follow.hpp"
#include "cli/job_submit.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/sweep.hpp"
#include "launch/interrupt.hpp"
#include "launch/trial_processes.hpp"
#include "record/query.hpp"
#include "record/replay.hpp"
#include "report/report_origins.hpp"
#include "report/table.hpp"

namespace gnnbench {

namespace {

struct RunChoice {
    ExperimentChoice experiment;
    SweepRules rules;
    bool no_verify = false, trace = false;
    bool forget_rerun = false;
    bool no_follow = false, cancel = false;  ///< of jobs
    double timeout_s = 0;                    ///< 0: as the experiment says
    std::shared_ptr<OutputFormat> format;
};

void register_cells(Database& database, const PreparedExperiment& prepared) {
    std::vector<CellRecord> records;
    for (const PreparedCell& cell : prepared.cells) records.push_back(cell.record);
    database.register_experiment(prepared.experiment.name, prepared.experiment.text, records);
}

std::string plural(std::size_t count, const std::string& what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// The command that goes on with what this one leaves. What was to be measured again is known to the database, so
/// that neither --rerun, --failed nor --stale is part of it.
std::string command_to_go_on(const Experiment& experiment, const RunChoice& choice, const Database& database) {
    std::string text = run_command({experiment.file.string(), experiment.profile, experiment.overrides, true});
    if (!choice.rules.plan.where.empty()) text += " --where " + shell_word(choice.rules.plan.where);
    if (database.path() != "gnnbench.sqlite") text += " --database " + shell_word(database.path().string());
    return text;
}

/// "12 trials run (1 failed), 24 were there already, 2 cells skipped".
void say_what_happened(const SweepReport& report, const JobFollower& jobs, const RunChoice& choice,
                       const std::string& go_on, Progress& progress) {
    std::string text = report.run == 0 ? "nothing to run" : plural(report.run, "trial") + " run";
    if (report.failed) text += fmt::format(" ({} failed)", report.failed);
    if (report.there) text += fmt::format("; {} there already", plural(report.there, "trial"));
    if (report.failed_before)
        text += fmt::format(" ({} of them failed: --failed reruns them)", report.failed_before);
    if (report.elsewhere) text += fmt::format("; {} run by another gnnbench", report.elsewhere);
    if (report.skipped) text += fmt::format("; {} skipped", plural(report.skipped, "cell"));
    if (report.run == 0 && report.verified)
        text += fmt::format("; {} of scheme and setting checked", plural(report.verified, "combination"));
    if (report.disproven) text += fmt::format("; {} FAILED verification", plural(report.disproven, "combination"));
    progress.message(text);
    if (!choice.rules.trace_epochs.empty() && report.run == 0)
        progress.message("nothing was traced, because nothing was run; --rerun runs the existing trials again");
    if (report.gave_up)
        progress.message(fmt::format("stopped after {}, as --maxfail says", plural(report.failed, "failure")));
    if (report.unstarted)
        progress.message(
            fmt::format("the launcher could not start {}; nothing of that is held against a cell, and {} goes on",
                        plural(report.unstarted, "trial"), go_on));
    if (report.without_turn)
        progress.message(fmt::format("{} did not finish; rerun the command to resubmit them",
                                     plural(report.without_turn, "trial")));
    if (report.jobs_left)
        progress.message(
            fmt::format("{} continue{} without this command (squeue shows {}); rerun it to follow them: "
                        "gnnbench run {}, or with --cancel to end them",
                        plural(report.jobs_left, "job"), report.jobs_left == 1 ? "s" : "",
                        fmt::join(jobs.names(), ", "), go_on.substr(std::string_view("gnnbench run ").size())));
    else if (report.interrupted)
        progress.message(fmt::format("interrupted; what was measured is kept, and this goes on: {}", go_on));
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

void check_job_options(const LauncherChoice& launcher, const RunChoice& choice) {
    if ((choice.no_follow || choice.cancel) && launcher.name != "sbatch")
        throw SpecError(fmt::format("--{} only applies to the launcher sbatch; found the launcher {}",
                                    choice.cancel ? "cancel" : "no-follow", launcher.name));
    if (choice.rules.jobs > 0 && launcher.name == "sbatch" && launcher.jobs != "array")
        throw SpecError(
            fmt::format("--jobs with sbatch limits the elements of an array that run at once; found "
                        "launcher.jobs: {}",
                        launcher.jobs));
}

/// Collects jobs of earlier runs first, so that the plan knows what they have measured. With sbatch, unfinished jobs
/// are followed later, with the new ones; with srun immediately, since they may hold trials that are to run.
void follow_earlier(JobFollower& jobs, const LauncherChoice& launcher, const RunChoice& choice,
                    Progress& progress) {
    jobs.adopt();
    if (jobs.jobs() == 0) return;
    progress.message(fmt::format("following {} of an earlier run", plural(jobs.jobs(), "job")));
    jobs.look();
    if (choice.cancel) jobs.cancel();
    if (choice.cancel || launcher.name == "srun") jobs.follow();
}

SweepReport run_by_jobs(const PreparedExperiment& prepared, const Plan& plan, Database& database,
                        TrialRunner& runner, JobFollower& jobs, const RunChoice& choice, Progress& progress) {
    SweepReport report;
    const std::vector<DueCell> due = due_cells(prepared, plan, database, runner, choice.rules, report, progress);
    const auto& launcher = dynamic_cast<const SrunLauncher&>(*runner.launcher());
    const std::size_t before = jobs.jobs();
    JobSubmission submission(prepared, database, runner.machine_fingerprint(), launcher, choice.rules, report);
    if (auto submitted = submission.submit(due))
        jobs.add(std::move(submitted->folder), std::move(submitted->batches));
    if (jobs.jobs() > before) progress.message(fmt::format("submitted {}", plural(jobs.jobs() - before, "job")));
    // Trials of earlier jobs are not another process's.
    if (before > 0) report.elsewhere = 0;
    if (choice.no_follow)
        report.jobs_left = jobs.jobs();
    else
        jobs.follow();
    return report;
}

/// An unfinished rerun goes on: --rerun does not begin it anew, and --no-rerun forgets it.
void settle_reruns(PlanRules& rules, bool forget, const PreparedExperiment& prepared, Database& database,
                   const std::string& machine, Progress& progress) {
    if (forget) {
        std::int64_t forgotten = 0;
        for (const PreparedCell& cell : prepared.cells)
            forgotten += database.forget_reruns(cell.record.digest, machine);
        progress.message(fmt::format("{} of an unfinished rerun are left as they are",
                                     plural(static_cast<std::size_t>(forgotten), "trial")));
    }
    const UnfinishedRerun unfinished = unfinished_rerun(prepared, rules.where, database, machine);
    if (unfinished.trials == 0) return;
    progress.message(
        fmt::format("going on with the rerun of {}: {} still to be measured again (--no-rerun forgets it)",
                    unfinished.asked.substr(0, 16), plural(static_cast<std::size_t>(unfinished.trials), "trial")));
    if (rules.again == Again::all) rules.again = Again::missing;
}

int run_one(RunChoice choice, const GlobalOptions& options) {
    Progress progress;
    const Say say = [&](const std::string& line) { progress.message(line); };
    const Catalog catalog = Catalog::at(options.data_dir);
    const InstalledPlugins plugins;
    // The file is read, and all its errors reported, before anything is created on disk.
    Experiment experiment = load(choice.experiment, catalog, plugins, shape_of);
    if (choice.timeout_s > 0) experiment.limits.trial_timeout_s = choice.timeout_s;
    require_some_cell(experiment, choice.rules.plan.where);
    check_trace_epochs(experiment, choice.rules.trace_epochs);
    check_job_options(experiment.launcher, choice);
    Database database(options.database);
    recover(database, say);
    const PreparedExperiment prepared = prepare(experiment, catalog, plugins, Datasets::make, say);
    const auto launcher = make_launcher(experiment.launcher);
    const InterruptGuard interrupts;  // not before: making a dataset may simply be ended
    TrialRunner runner(database, prepared.experiment, launcher, std::max(1, choice.rules.jobs));
    register_cells(database, prepared);
    JobFollower jobs(database, runner, choice.rules, experiment.launcher.poll_s, progress);
    if (launcher->elsewhere()) follow_earlier(jobs, experiment.launcher, choice, progress);
    settle_reruns(choice.rules.plan, choice.forget_rerun, prepared, database, runner.machine_fingerprint(),
                  progress);
    const Plan plan = plan_of(prepared, plugins, &database, site_of(*launcher), choice.rules.plan);
    if (plan.stale && !choice.rules.plan.stale)
        progress.message(
            fmt::format("{} hold{} trials of another build of gnnbench or its plugins; --stale runs those again",
                        plural(static_cast<std::size_t>(plan.stale), "cell"), plan.stale == 1 ? "s" : ""));
    SweepReport report;
    if (!InterruptGuard::requested() && !choice.cancel) {
        if (experiment.launcher.name == "sbatch")
            report = run_by_jobs(prepared, plan, database, runner, jobs, choice, progress);
        else
            report = Sweep(prepared, plan, database, runner, choice.rules, progress).run();
    }
    report += jobs.report();
    runner.finish();
    say_what_happened(report, jobs, choice, command_to_go_on(prepared.experiment, choice, database), progress);
    const ComparisonData table =
        read_comparison(database.path(), prepared.experiment.name, runner.machine_fingerprint());
    std::cout << render_comparison(table, *choice.format);
    if (report.interrupted) return exit_interrupted;
    if (report.unstarted) return exit_environment;
    return report.all_well() ? exit_ok : exit_cell_failed;
}

/// Of a folder's experiments some may have no cell that fits; that the last has none either, if so, is an error.
bool holds_somewhere(const Experiment& experiment, const std::string& where, bool none_before_the_last) {
    const std::vector<bool> chosen = chosen_cells(experiment, where);
    if (std::ranges::count(chosen, true) > 0) return true;
    if (none_before_the_last) require_some_cell(experiment, where);
    Progress().message(fmt::format("{}: no cell fits --where", experiment.file.string()));
    return false;
}

/// Every experiment of a folder, in order of name; all are read, and their errors reported, before the first runs.
int run(const RunChoice& choice, const GlobalOptions& options) {
    const auto files = experiments_at(choice.experiment.file);
    std::vector<RunChoice> runs;
    for (const auto& file : files) {
        runs.push_back(choice);
        runs.back().experiment.file = file;
        if (files.size() == 1) continue;
        const Experiment read = load(runs.back().experiment, Catalog::at(options.data_dir), InstalledPlugins());
        if (!holds_somewhere(read, choice.rules.plan.where, file == files.back() && runs.size() == 1))
            runs.pop_back();
    }
    int code = exit_ok;
    for (std::size_t i = 0; i < runs.size() && code != exit_interrupted; ++i) {
        if (files.size() > 1)
            Progress().message(
                fmt::format("experiment {} of {}: {}", i + 1, runs.size(), runs[i].experiment.file.string()));
        code = std::max(code, run_one(runs[i], options));
    }
    return code;
}

/// Removes folders of trials whose host was killed; another process may already have replayed its journal.
void remove_left_folders(const Database& database) {
    std::error_code ignored;
    std::vector<std::filesystem::path> left;
    for (const auto& entry : std::filesystem::directory_iterator(journal_folder(database.path()), ignored)) {
        // A journal without its final name: its host was killed while creating it. A recent one may be unfinished.
        const auto age = std::filesystem::file_time_type::clock::now() - entry.last_write_time(ignored);
        if (entry.path().filename().string().ends_with(".jsonl.new") && age > std::chrono::hours(1))
            left.push_back(entry.path());
        if (!entry.is_directory(ignored)) continue;
        const std::vector<SqlValue> trial{entry.path().filename().string()};
        const std::string sql = "SELECT 1 FROM trial WHERE uuid = ?1 AND status <> 'running'";
        if (!query(database.path(), sql, trial).rows.empty()) left.push_back(entry.path());
    }
    for (const auto& folder : left) std::filesystem::remove_all(folder, ignored);
}

}  // namespace

void recover(Database& database, const Say& say) {
    const ReplayResult replayed = replay_dead_journals(database);
    for (const std::string& problem : replayed.problems) say("damaged journal: " + problem);
    for (const std::string& trial : replayed.interrupted) bury_trial(trial, 2.0);
    remove_left_shared_memory();
    remove_left_folders(database);
    if (!replayed.interrupted.empty())
        say(fmt::format("{} interrupted earlier; what it had recorded is kept, and it runs again",
                        plural(replayed.interrupted.size(), "trial")));
}

void add_run(CLI::App& app, const GlobalOptions& options, Action& action) {
    CLI::App* command = app.add_subcommand("run", "Run an experiment's missing trials, and print its table");
    auto choice = std::make_shared<RunChoice>();
    add_experiment_options(*command, choice->experiment);
    add_plan_options(*command, choice->rules.plan);
    command->add_flag("--no-rerun", choice->forget_rerun,
                      "Forget what an interrupted --rerun, --failed or --stale has not measured again yet");
    command->add_flag("--no-verify", choice->no_verify,
                      "Do not verify new combinations against the reference first");
    command
        ->add_option("--shuffle,--order-seed", choice->rules.order_seed,
                     "Seed of the random order of cells within each block of trials (default: 0)")
        ->type_name("SEED");
    command->add_option("--maxfail", choice->rules.max_failures, "Stop after this many failed trials")
        ->check(CLI::PositiveNumber)
        ->type_name("N");
    command
        ->add_option("--retries", choice->rules.retries,
                     "Rerun a trial that failed, crashed or timed out, up to this many times")
        ->check(CLI::NonNegativeNumber)
        ->type_name("N");
    command
        ->add_option("--timeout", choice->timeout_s,
                     "Limit of a trial in seconds, instead of limits.trial_timeout")
        ->check(CLI::PositiveNumber)
        ->type_name("SECONDS");
    command
        ->add_option(
            "--jobs", choice->rules.jobs,
            "Concurrent trials, which share the cores; with too few cores, times count as oversubscribed. With "
            "sbatch, concurrent elements of an array (default there: Slurm's choice)")
        ->check(CLI::Range(1, 1024))
        ->type_name("N");
    command->add_flag("--no-follow", choice->no_follow, "With sbatch: submit, and leave the jobs to Slurm");
    command->add_flag("--cancel", choice->cancel,
                      "With sbatch: cancel the jobs that earlier runs submitted, and keep what they measured");
    command
        ->add_option("--export", choice->rules.export_folder,
                     "Export trained weights and embeddings as .npy to this folder")
        ->type_name("FOLDER");
    command
        ->add_option("--trace-epochs", choice->rules.trace_epochs,
                     "Record every operation's time in these epochs (from 0, warm-up included); see trace")
        ->delimiter(',')
        ->check(CLI::NonNegativeNumber)
        ->type_name("N,...");
    command->add_flag("--trace", choice->trace, "The same for each trial's last epoch");
    choice->format = add_format_options(*command);
    command->callback([&, choice] {
        if (choice->trace) choice->rules.trace_epochs.push_back(last_epoch);
        choice->rules.verify = !choice->no_verify;
        action = [&, choice] { return run(*choice, options); };
    });
}

}  // namespace gnnbench
