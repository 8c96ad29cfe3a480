#pragma once
#include <filesystem>
#include <functional>
#include <string>

#include <CLI/CLI.hpp>

namespace gnnbench {

/// Options that all commands share.
struct GlobalOptions {
    std::filesystem::path database;  ///< --database, GNNBENCH_DATABASE, or gnnbench.sqlite in the current folder
    std::string data_dir;            ///< --data-dir; empty: GNNBENCH_DATA, or ./datasets (see data/catalog.hpp)
};

/// What the chosen command does; returns the exit code.
using Action = std::function<int()>;

/// Exit codes. Errors thrown have theirs by type: see exit_code_of.
enum ExitCode {
    exit_ok = 0,
    exit_cell_failed = 1,
    exit_usage = 2,
    exit_regression = 3,
    exit_unclear = 4,
    exit_environment = 5,
    exit_interrupted = 130
};

/// All commands and global options of the program.
void define_commands(CLI::App& app, GlobalOptions& options, Action& action);

/// Each adds its command to the program and, where that is chosen, sets `action`.
void add_run(CLI::App& app, const GlobalOptions& options, Action& action);
void add_tune(CLI::App& app, const GlobalOptions& options, Action& action);
void add_plan(CLI::App& app, const GlobalOptions& options, Action& action);
void add_validate(CLI::App& app, const GlobalOptions& options, Action& action);
void add_verify(CLI::App& app, const GlobalOptions& options, Action& action);
void add_query(CLI::App& app, const GlobalOptions& options, Action& action);
void add_results(CLI::App& app, const GlobalOptions& options, Action& action);
void add_compare(CLI::App& app, const GlobalOptions& options, Action& action);
void add_gate(CLI::App& app, const GlobalOptions& options, Action& action);
void add_selftest(CLI::App& app, const GlobalOptions& options, Action& action);
void add_table(CLI::App& app, const GlobalOptions& options, Action& action);
void add_figure(CLI::App& app, const GlobalOptions& options, Action& action);
void add_report(CLI::App& app, const GlobalOptions& options, Action& action);
void add_trace(CLI::App& app, const GlobalOptions& options, Action& action);
void add_plugin(CLI::App& app, const GlobalOptions& options, Action& action);
void add_dataset(CLI::App& app, const GlobalOptions& options, Action& action);
void add_machine(CLI::App& app, const GlobalOptions& options, Action& action);
/// `dataset balance`, `profile` and `profiles`, added by add_dataset.
void add_balance(CLI::App& dataset, const GlobalOptions& options, Action& action);
void add_profiles(CLI::App& dataset, const GlobalOptions& options, Action& action);
void add_partition(CLI::App& app, const GlobalOptions& options, Action& action);
void add_job_task(CLI::App& app, const GlobalOptions& options, Action& action);
void add_doctor(CLI::App& app, const GlobalOptions& options, Action& action);
void add_init(CLI::App& app, const GlobalOptions& options, Action& action);
void add_completion(CLI::App& app, const GlobalOptions& options, Action& action);
void add_version(CLI::App& app, const GlobalOptions& options, Action& action);
/// What `version` prints.
std::string version_text();
void add_help(CLI::App& app, const GlobalOptions& options, Action& action);

}  // namespace gnnbench
