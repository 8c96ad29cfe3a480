#pragma once
#include <filesystem>
#include <functional>
#include <string>

#include <CLI/CLI.hpp>

namespace gnnbench {

/// Options that all commands share.
struct GlobalOptions {
    std::filesystem::path database;  ///< --database, GNNBENCH_DATABASE, or gnnbench.sqlite at the project's root
    std::string data_dir;  ///< --data-dir, or datasets there; empty: GNNBENCH_DATA (see data/catalog.hpp)
    bool database_given = false, data_dir_given = false;  ///< by an option or the environment, or by an option

    /// " --database FILE", for a command that a message proposes; empty if it finds the database by itself.
    std::string database_option() const;
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

/// The commands, in the order of `gnnbench --help`. Each is a function add_NAME, which adds it to the program and, where it
/// is chosen, sets `action`.
// clang-format off
#define GNNBENCH_EACH_COMMAND(X) \
    X(run) X(tune) X(plan) X(validate) X(verify) X(query) X(results) X(compare) X(gate) X(selftest) \
    X(table) X(figure) X(claims) X(report) X(trace) X(plugin) X(dataset) X(partition) X(machine) X(launcher) X(doctor) \
    X(replay) X(job_task) X(init) X(completion) X(version) X(help)
// clang-format on
#define GNNBENCH_DECLARE_COMMAND(name) \
    void add_##name(CLI::App& app, const GlobalOptions& options, Action& action);
GNNBENCH_EACH_COMMAND(GNNBENCH_DECLARE_COMMAND)
#undef GNNBENCH_DECLARE_COMMAND

/// `dataset balance`, `profile` and `profiles`, added by add_dataset.
void add_balance(CLI::App& dataset, const GlobalOptions& options, Action& action);
void add_profiles(CLI::App& dataset, const GlobalOptions& options, Action& action);
/// What `version` prints.
std::string version_text();

}  // namespace gnnbench
