#include <algorithm>
#include <iostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>

#include "cli/experiment_options.hpp"
#include "cli/folder_experiments.hpp"
#include "cli/formats.hpp"
#include "cli/plan.hpp"
#include "cli/project.hpp"
#include "cli/ranges.hpp"
#include "core/plural.hpp"
#include "report/report_origins.hpp"
#include "report/table.hpp"
#include "run/definitions.hpp"
#include "run/experiment_run.hpp"
#include "run/sweep_text.hpp"
#include "run/tagging.hpp"

namespace gnnbench {

namespace {

struct RunChoice {
    RunRequest request;
    bool only_plan = false, no_verify = false, trace = false;
    std::shared_ptr<OutputFormat> format;
};

/// The command that goes on with what this one leaves. What was to be measured again is known to the database, so
/// that neither --rerun, --failed nor --stale is part of it.
std::string command_to_go_on(const Experiment& experiment, const std::string& where,
                             const GlobalOptions& options) {
    std::string text = run_command({experiment.file.string(), experiment.profile, experiment.overrides, true});
    if (!where.empty()) text += " --where " + shell_word(where);
    return text + options.database_option();
}

void print_summary(const RunResult& result, bool traced, const std::string& go_on, Progress& progress) {
    const SweepReport& report = result.report;
    progress.message(sweep_text(report));
    if (traced && report.due == 0 && report.run == 0)
        progress.message("nothing was traced, because nothing was run; --rerun runs the existing trials again");
    if (report.stopped_early)
        progress.message(fmt::format("stopped after {}, as --maxfail says", plural(report.failed, "failure")));
    if (report.unstarted)
        progress.message(
            fmt::format("the launcher could not start {}; nothing of that is held against a cell, and {} goes on",
                        plural(report.unstarted, "trial"), go_on));
    if (report.never_begun)
        progress.message(fmt::format("{} did not finish; rerun the command to resubmit them",
                                     plural(report.never_begun, "trial")));
    if (report.jobs_left)
        progress.message(
            fmt::format("{} continue{} without this command (named {}…); rerun it to follow them: "
                        "gnnbench run {}, or with --cancel to end them",
                        plural(report.jobs_left, "job"), report.jobs_left == 1 ? "s" : "",
                        fmt::join(result.jobs, ", "), go_on.substr(std::string_view("gnnbench run ").size())));
    else if (report.interrupted)
        progress.message(fmt::format("interrupted; what was measured is kept, and this goes on: {}", go_on));
}

int run_one(const RunChoice& choice, const GlobalOptions& options) {
    Progress progress;
    const SweepRules& rules = choice.request.rules;
    const RunResult result = run_experiment(choice.request, {options.database, options.data_dir}, progress);
    print_summary(result, !rules.trace_epochs.empty(),
                  command_to_go_on(result.experiment, rules.plan.where, options), progress);
    const ComparisonData table =
        read_comparison(options.database, result.experiment.name, result.machine_fingerprint);
    std::cout << render_comparison(table, *choice.format);
    if (result.report.interrupted) return exit_interrupted;
    if (result.report.unstarted) return exit_environment;
    return result.report.all_well() ? exit_ok : exit_cell_failed;
}

/// The experiments with a cell that matches `where`. Some of a folder may have none; if none has one, the last one raises
/// an error.
std::vector<const FolderExperiments::One*> with_matching_cells(FolderExperiments& all, const std::string& where) {
    std::vector<const FolderExperiments::One*> matching;
    for (const FolderExperiments::One& one : all.readable()) {
        const std::vector<bool> chosen = chosen_cells(one.experiment, where);
        if (std::ranges::count(chosen, true) > 0)
            matching.push_back(&one);
        else if (&one == &all.readable().back() && matching.empty())
            require_some_cell(one.experiment, where);
        else
            Progress().message(fmt::format("{}: no cell fits --where", one.choice.file.string()));
    }
    return matching;
}

/// Every experiment of a folder, in order of name; all are read, and their errors reported, before the first runs.
int run(const RunChoice& choice, const GlobalOptions& options) {
    if (choice.only_plan) return show_plan(choice.request.experiment, choice.request.rules.plan, options);
    {
        Progress progress;
        name_places(options, progress);
    }
    if (const auto files = experiments_at(choice.request.experiment.file); files.size() == 1) {
        RunChoice one = choice;
        one.request.experiment.file = files.front();
        return run_one(one, options);
    }
    FolderExperiments all(choice.request.experiment, options);
    const auto matching = with_matching_cells(all, choice.request.rules.plan.where);
    int code = exit_ok;
    for (std::size_t i = 0; i < matching.size() && code != exit_interrupted; ++i) {
        RunChoice one = choice;
        one.request.experiment = matching[i]->choice;
        const std::string file = one.request.experiment.file.string();
        Progress().message(fmt::format("experiment {} of {}: {}", i + 1, matching.size(), file));
        try {
            code = std::max(code, run_one(one, options));
        } catch (const Error&) {
            all.failed(file);
        }
    }
    return all.conclude(code);
}

/// Which trials run, in which order, and what becomes of failed ones.
void add_trial_options(CLI::App& command, const std::shared_ptr<RunChoice>& choice) {
    command.add_flag("-n,--dry-run", choice->only_plan, "Only show what would run, as gnnbench plan does");
    command
        .add_option_function<std::string>(
            "--tag",
            [choice](const std::string& tag) {
                check_tag(tag);
                choice->request.tag = tag;
            },
            "Name the trials that this run measures, for compare: --tag before")
        ->type_name("TAG");
    command.add_flag("--no-rerun", choice->request.forget_rerun,
                     "Forget what an interrupted --rerun, --failed or --stale has not measured again yet");
    command.add_flag("--no-verify", choice->no_verify,
                     "Do not verify new combinations against the reference first");
    SweepRules& rules = choice->request.rules;
    command
        .add_option("--shuffle,--order-seed", rules.order_seed,
                    "Seed of the random order of cells within each block of trials (default: 0)")
        ->type_name("SEED");
    command.add_option("--maxfail", rules.max_failures, "Stop after this many failed trials")
        ->check(at_least(1))
        ->type_name("N");
    command
        .add_option("--retries", rules.retries,
                    "Rerun a trial that failed, crashed or timed out, up to this many times")
        ->check(at_least(0))
        ->type_name("N");
    command
        .add_option("--timeout", choice->request.timeout_s,
                    "Limit of a trial in seconds, instead of limits.trial_timeout")
        ->check(above(0, 1e9))
        ->type_name("SECONDS");
}

void add_job_options(CLI::App& command, RunRequest& request) {
    command
        .add_option(
            "-j,--jobs", request.rules.jobs,
            "Concurrent trials, each bound to cores of its own: a trial begins when as many are free as its ranks "
            "have threads. With sbatch, concurrent elements of an array (default there: Slurm's choice)")
        ->check(between(1, 1024))
        ->type_name("N");
    command.add_flag("--no-follow", request.no_follow, "With sbatch: submit, and leave the jobs to Slurm");
    command.add_flag("--cancel", request.cancel,
                     "With sbatch: cancel the jobs that earlier runs submitted, and keep what they measured");
}

/// What a trial leaves besides its times.
void add_record_options(CLI::App& command, RunChoice& choice) {
    SweepRules& rules = choice.request.rules;
    command
        .add_option("--export", rules.export_folder,
                    "Export trained weights and embeddings as .npy to this folder")
        ->type_name("FOLDER");
    command
        .add_option("--trace-epochs", rules.trace_epochs,
                    "Record every operation's time in these epochs (from 0, warm-up included); see trace")
        ->delimiter(',')
        ->check(at_least(0))
        ->type_name("N,...");
    command.add_flag("--trace", choice.trace, "The same for each trial's last epoch");
}

}  // namespace

void add_run(CLI::App& app, const GlobalOptions& options, Action& action) {
    CLI::App* command = app.add_subcommand("run", "Run an experiment's missing trials, and print its table");
    auto choice = std::make_shared<RunChoice>();
    add_experiment_options(*command, choice->request.experiment);
    add_allow_programs(*command, choice->request.experiment);
    add_plan_options(*command, choice->request.rules.plan);
    add_trial_options(*command, choice);
    add_job_options(*command, choice->request);
    add_record_options(*command, *choice);
    choice->format = add_format_options(*command);
    command->callback([&, choice] {
        if (choice->trace) choice->request.rules.trace_epochs.push_back(last_epoch);
        choice->request.rules.verify = !choice->no_verify;
        action = [&, choice] { return run(*choice, options); };
    });
}

}  // namespace gnnbench
