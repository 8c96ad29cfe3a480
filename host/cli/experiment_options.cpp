#include "cli/experiment_options.hpp"

#include <algorithm>

#include <gnnbench/error.hpp>

#include "cli/ranges.hpp"
#include "record/query.hpp"
#include "run/definitions.hpp"

namespace gnnbench {

namespace {

/// --launcher: another spelling of --set launcher.name=….
void add_launcher_option(CLI::App& command, std::vector<std::string>& overrides) {
    command
        .add_option_function<std::string>(
            "--launcher", [&overrides](const std::string& name) { overrides.push_back("launcher.name=" + name); },
            "What starts ranks, instead of the experiment's launcher: local, srun, sbatch … (gnnbench launcher "
            "list)")
        ->type_name("LAUNCHER");
}

std::string measured_last(const std::filesystem::path& database) {
    const QueryResult found = query(database,
                                    "SELECT e.name FROM trial t JOIN experiment e ON e.id = t.experiment_id "
                                    "ORDER BY t.id DESC LIMIT 1");
    if (found.rows.empty())
        throw SpecError("'" + database.string() + "' holds no trials yet; gnnbench run makes some");
    return std::get<std::string>(found.rows[0][0]);
}

}  // namespace

void add_experiment_options(CLI::App& command, ExperimentChoice& choice) {
    command
        .add_option_function<std::string>(
            "experiment", [&choice](const std::string& given) { choice.file = find_experiment(given); },
            "The experiment: a YAML file (run, plan: or a folder of them), or its name in experiments, here or "
            "beside the "
            "program: mg-gcn/epochs")
        ->required()
        ->type_name("EXPERIMENT");
    add_override_options(command, choice);
}

void add_override_options(CLI::App& command, ExperimentChoice& choice) {
    command
        .add_option("--set", choice.overrides,
                    "Override a key: --set epochs=5 --set train.lr=0.1 (may be repeated)")
        ->type_name("KEY=VALUE")
        ->take_all();
    add_launcher_option(command, choice.overrides);
    command.add_option("--profile", choice.profile, "A profile of the experiment (default: the file's)")
        ->type_name("PROFILE");
}

void add_allow_programs(CLI::App& command, ExperimentChoice& choice) {
    command.add_flag("--allow-programs", choice.allow_programs,
                     "Start the programs that the experiment names without a question, now and until they change "
                     "(GNNBENCH_ALLOW_PROGRAMS=1: all programs)");
}

void add_where_option(CLI::App& command, std::string& where) {
    command
        .add_option(
            "--where,--only", where,
            "Only cells that match this SQL expression over their fields: \"scheme = 'mg-gcn' AND gpus > 2\"")
        ->type_name("EXPR");
}

void add_plan_options(CLI::App& command, PlanRules& rules) {
    add_where_option(command, rules.where);
    command.add_flag("--stale", rules.stale, "Also cells that another build of gnnbench measured");
    command.add_flag("--force", rules.force, "Also cells that cannot fit in memory");
    command.add_flag_callback(
        "--failed", [&rules] { rules.again = std::max(rules.again, Again::failed); }, "Also what failed");
    command.add_flag_callback("--rerun", [&rules] { rules.again = Again::all; }, "Everything again");
}

std::string experiment_name(const std::string& given, const GlobalOptions& options) {
    if (given.empty()) return measured_last(options.database);
    if (!std::filesystem::is_regular_file(given)) return given;
    return load({.file = given, .overrides = {}}, Catalog::at(options.data_dir), InstalledPlugins()).name;
}

}  // namespace gnnbench
