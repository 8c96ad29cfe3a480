// gnnbench job-task FOLDER NUMBER: what a submitted job runs, on the first of its nodes.
#include <filesystem>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "cli/options.hpp"
#include "launch/interrupt.hpp"
#include "run/task_run.hpp"

namespace gnnbench {

namespace {

int job_task(const std::filesystem::path& folder, std::size_t number) {
    const JobTask task = read_task(folder, number);
    const LauncherDeclaration launcher = launcher_declaration(task.launcher);
    if (!launcher.allocation.empty() && !launcher.inside_allocation())
        throw SpecError(
            fmt::format("job-task is run by the jobs that `gnnbench run` submits, not by hand: {} is not set here",
                        launcher.allocation));
    if (std::filesystem::file_size(task.journal) > 0)
        throw EnvironmentError(
            fmt::format("{} has lines already: this job was started a second time, and what is missing is "
                        "submitted by the next "
                        "`gnnbench run`",
                        task.journal.string()));
    const InterruptGuard interrupts;
    run_task(task);
    return InterruptGuard::requested() ? exit_interrupted : exit_ok;
}

}  // namespace

void add_job_task(CLI::App& app, const GlobalOptions&, Action& action) {
    CLI::App* command = app.add_subcommand("job-task", "Run one task of a submitted job (jobs do this)");
    command->group("");  // not in the help
    auto folder = std::make_shared<std::filesystem::path>();
    auto number = std::make_shared<std::size_t>(0);
    command->add_option("folder", *folder)->required()->type_name("FOLDER");
    command->add_option("number", *number)->required();
    command->callback(
        [&action, folder, number] { action = [folder, number] { return job_task(*folder, *number); }; });
}

}  // namespace gnnbench
