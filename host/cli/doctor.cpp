#include <cstring>
#include <filesystem>
#include <iostream>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/kernel.hpp>

#include "cli/options.hpp"
#include "cli/output.hpp"
#include "data/catalog.hpp"
#include "launch/apart.hpp"
#include "launch/machine.hpp"
#include "launch/trial.hpp"
#include "plugin/loader.hpp"
#include "run/launchers.hpp"
#include "run/plugin_probe.hpp"
#include "spec/words.hpp"

namespace gnnbench {

namespace {

namespace fs = std::filesystem;

/// One requirement of gnnbench, and whether it is met.
struct Check {
    std::string what, finding;
    bool ok = true;
};

/// What `look` returns, or the message of the exception that it throws.
template <class Look>
Check check(const std::string& what, const Look& look) {
    try {
        return {what, look(), true};
    } catch (const Error& error) {
        return {what, error.what(), false};
    }
}

/// Says where something will be stored; creates nothing.
std::string writable(const fs::path& path) {
    std::error_code ignored;
    const bool there = fs::exists(path, ignored);
    fs::path asked = there ? path : fs::absolute(path).parent_path();
    while (!fs::exists(asked, ignored) && asked.has_parent_path() && asked != asked.root_path())
        asked = asked.parent_path();
    if (access(asked.c_str(), W_OK) != 0)
        throw EnvironmentError("'" + path.string() + "' cannot be written: " + std::strerror(errno));
    return path.string() + (there ? "" : " (not there yet)");
}

std::string megabytes_free(const fs::path& path) {
    fs::path asked = fs::absolute(path);
    std::error_code error;
    while (!fs::exists(asked, error) && asked != asked.root_path()) asked = asked.parent_path();
    const fs::space_info space = fs::space(asked, error);
    return error ? "" : ", " + std::to_string(space.available >> 20) + " MiB free";
}

std::string describe_kernel(const PluginCatalog& catalog, const std::string& name) {
    const auto kernel = catalog.kernel(name);
    const KernelSetting setting{.threads = usable_cores(),
                                .params = Params(catalog.find(PluginKind::kernel, name).params)};
    const std::string reason = kernel->why_unsupported(setting);
    return reason.empty() ? kernel->device_name(setting) : "not usable here: " + reason;
}

/// In a separate process: a plugin, or a driver below it, may crash or hang.
std::string kernel_apart(const PluginCatalog& catalog, const std::string& name) {
    const ApartResult result = call_apart(
        [&] {
            const Check found = check(name, [&] { return describe_kernel(catalog, name); });
            return (found.ok ? "+" : "-") + found.finding;
        },
        60);
    if (!result.failure.empty()) throw PluginError("it " + result.failure + " as it was opened");
    if (result.said.front() == '-') throw PluginError(result.said.substr(1));
    return result.said.substr(1);
}

void check_kernels(const PluginCatalog& catalog, std::vector<Check>& checks) {
    const std::vector<std::string> names = catalog.names(PluginKind::kernel);
    if (names.empty()) checks.push_back({"kernels", "no kernel plugin was found", false});
    for (const std::string& name : names)
        checks.push_back(check("kernel " + name, [&] { return kernel_apart(catalog, name); }));
}

void check_plugins(const PluginCatalog& catalog, std::vector<Check>& checks) {
    int usable = 0;
    for (const ListedPlugin& plugin : list_apart(catalog)) {
        if (plugin.usable()) ++usable;
        if (!plugin.refused.empty()) checks.push_back({"plugin " + plugin.name, plugin.refused, false});
    }
    checks.push_back({"plugins", std::to_string(usable) + " usable", usable > 0});
    for (const std::string& exposed : exposed_folders(catalog.folders()))
        checks.push_back({"plugin folder", exposed, false});
}

std::vector<Check> examine(const GlobalOptions& options) {
    std::vector<Check> checks;
    checks.push_back(check("mpiexec", [] {
        const Mpiexec mpiexec = find_mpiexec();
        return mpiexec.version + " at " + mpiexec.path;
    }));
    checks.push_back(check("worker", [] { return find_worker(); }));
    const Machine machine = this_machine({});
    checks.push_back({"machine",
                      machine.cpu + ", " + std::to_string(machine.cores) + " cores, " +
                          std::to_string(machine.memory_gib) + " GiB",
                      true});
    const PluginCatalog catalog;
    check_plugins(catalog, checks);
    check_kernels(catalog, checks);
    checks.push_back(check("database", [&] { return writable(options.database); }));
    const fs::path datasets = Catalog::at(options.data_dir).folder();
    checks.push_back(check("datasets", [&] { return writable(datasets) + megabytes_free(datasets); }));
    return checks;
}

/// The launcher to check, and its options.
struct DoctorChoice {
    LauncherChoice launcher;
    bool as_json = false;
};

/// Checks Slurm, and runs the same checks on a compute node.
void examine_cluster(const LauncherChoice& choice, const GlobalOptions& options, std::vector<Check>& checks) {
    std::shared_ptr<const SrunLauncher> srun;
    checks.push_back(check("slurm", [&] {
        srun = std::make_shared<SrunLauncher>(slurm_settings(choice));
        const SlurmPartition& p = srun->cluster().partition;
        return fmt::format("{}, cluster {}, partition {}: nodes of {} CPUs and {} MiB, {}",
                           srun->cluster().version, srun->cluster().name, p.name, p.cpus, p.memory_mib,
                           p.has_gpus ? "with GPUs" : "without GPUs that Slurm knows of");
    }));
    if (!srun) return;
    nlohmann::json answer;
    checks.push_back(check("compute node", [&] {
        const std::string here = fs::read_symlink("/proc/self/exe");
        std::vector<std::string> command{here, "doctor", "--json", "--database",
                                         fs::absolute(options.database).string()};
        if (!options.data_dir.empty())
            command.insert(command.end(), {"--data-dir", fs::absolute(options.data_dir).string()});
        const std::string text = srun->output_on_node(command, srun->cluster().partition.has_gpus, 60);
        answer = nlohmann::json::parse(text.substr(0, text.rfind('}') + 1), nullptr, false);
        if (!answer.is_object() || !answer.contains("checks"))
            throw EnvironmentError("a compute node ran " + here + " but did not print doctor's report: " + text);
        return std::string("answers; its report follows");
    }));
    if (!answer.is_object() || !answer.contains("checks")) return;
    for (const auto& c : answer["checks"])
        checks.push_back({"node: " + c.value("what", ""), c.value("finding", ""), c.value("ok", false)});
}

int print(const std::vector<Check>& checks, bool as_json) {
    bool all_ok = true;
    nlohmann::json list = nlohmann::json::array();
    TextColumns columns({"", "what", "finding"});
    for (const Check& c : checks) {
        all_ok = all_ok && c.ok;
        list.push_back({{"what", c.what}, {"ok", c.ok}, {"finding", c.finding}});
        columns.add({c.ok ? "ok" : "BAD", c.what, c.finding});
    }
    if (as_json)
        print_json(std::cout, {{"ok", all_ok}, {"checks", list}});
    else
        std::cout << columns.text();
    return all_ok ? exit_ok : exit_environment;
}

}  // namespace

void add_doctor(CLI::App& app, const GlobalOptions& options, Action& action) {
    CLI::App* command = app.add_subcommand("doctor", "Check what gnnbench needs, and report what is missing");
    auto choice = std::make_shared<DoctorChoice>();
    command->add_flag("--json", choice->as_json, "As JSON");
    command
        ->add_option("--launcher", choice->launcher.name,
                     "The launcher to check; with srun or sbatch, also on a compute node (default: local)")
        ->check(CLI::IsMember(std::vector<std::string>(words::launcher.begin(), words::launcher.end())));
    command->add_option("--partition", choice->launcher.partition, "Slurm's partition (default: Slurm's)");
    command->add_option("--account", choice->launcher.account, "Slurm's account (default: Slurm's)");
    command->add_option("--slurm-option", choice->launcher.options, "A further option of srun (repeatable)")
        ->type_name("OPTION");
    command->callback([&, choice] {
        action = [&, choice] {
            std::vector<Check> checks;
            if (choice->launcher.slurm())
                examine_cluster(choice->launcher, options, checks);
            else
                checks = examine(options);
            return print(checks, choice->as_json);
        };
    });
}

}  // namespace gnnbench
