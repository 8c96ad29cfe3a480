#pragma once
#include <string>

#include "cli/options.hpp"
#include "run/prepare.hpp"

namespace gnnbench {

/// Adds the file, --profile, --launcher and --set to a command.
void add_experiment_options(CLI::App& command, ExperimentChoice& choice);

/// The same without the file.
void add_override_options(CLI::App& command, ExperimentChoice& choice);

/// Adds --allow-programs to a command that starts what the experiment names.
void add_allow_programs(CLI::App& command, ExperimentChoice& choice);

/// Adds the options of `plan` and `run` that select cells and trials.
/// --where: an expression over cells' fields (see CellFilter).
void add_where_option(CLI::App& command, std::string& where);
void add_plan_options(CLI::App& command, PlanRules& rules);

/// An experiment given by name or by file; if neither is given, the one measured last.
std::string experiment_name(const std::string& given, const GlobalOptions& options);

}  // namespace gnnbench
