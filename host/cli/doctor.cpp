#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>
#include <gnnbench/backend.hpp>

#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/ranges.hpp"
#include "core/owned_folder.hpp"
#include "data/catalog.hpp"
#include "core/plural.hpp"
#include "energy/nvml.hpp"
#include "energy/powercap.hpp"
#include "launch/in_child.hpp"
#include "launch/job_queue.hpp"
#include "launch/child.hpp"
#include "launch/environment.hpp"
#include "launch/machine.hpp"
#include "launch/process_limits.hpp"
#include "launch/shared_folder.hpp"
#include "launch/trial.hpp"
#include "launch/worker_program.hpp"
#include "plugin/loader.hpp"
#include "run/launchers.hpp"
#include "spec/launcher_file.hpp"
#include "run/plugin_probe.hpp"

namespace gnnbench {

namespace {

namespace fs = std::filesystem;

/// For a database and datasets: less is soon used up.
constexpr std::uintmax_t least_free_mib = 256;

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

/// ", 1234 MiB free" on the disk of a path that may not exist yet. Throws EnvironmentError where that is nearly full.
std::string megabytes_free(const fs::path& path, std::uintmax_t least_mib) {
    fs::path asked = fs::absolute(path);
    std::error_code error;
    while (!fs::exists(asked, error) && asked != asked.root_path()) asked = asked.parent_path();
    const fs::space_info space = fs::space(asked, error);
    if (error) return "";
    const std::uintmax_t mib = space.available >> 20;
    if (mib < least_mib)
        throw EnvironmentError(fmt::format(
            "{}: the disk of {} is {}: {} MiB of {} are free; free some, or name another place", path.string(),
            asked.string(), mib == 0 ? "full" : "nearly full", mib, space.capacity >> 20));
    return fmt::format(", {} MiB free", mib);
}

/// Starts two ranks that send each other a number, as trials are started.
std::string two_ranks() {
    const Mpiexec mpiexec = find_mpiexec();
    const RankLoad load{.ranks = 2, .threads_per_rank = 1, .cores = usable_cores()};
    const ProgramOutput out = run_workers(mpiexec, load, {"--probe"}, "doctor", 60);
    const std::string wanted = "2 ranks exchanged";
    const std::size_t at = out.text.find(wanted);
    if (out.exit_code != 0 || at == std::string::npos)
        throw EnvironmentError(fmt::format("{} -n 2 {} --probe ended with {} and without an exchange; it said: {}",
                                           mpiexec.path, find_worker(mpiexec.flavour), out.exit_code,
                                           out.text.substr(0, 2000)));
    return out.text.substr(at, out.text.find('\n', at) - at);
}

std::string describe_kernel(const PluginCatalog& catalog, const std::string& name) {
    const auto kernel = catalog.kernel(name);
    const KernelSetting setting{.threads = usable_cores(),
                                .params = Params(catalog.find(PluginKind::kernel, name).params)};
    const std::string reason = kernel->why_unsupported(setting);
    return reason.empty() ? kernel->device_name(setting) : "not usable here: " + reason;
}

/// In a separate process: a plugin, or a driver below it, may crash or hang.
std::string kernel_in_child(const PluginCatalog& catalog, const std::string& name) {
    const ChildResult result = call_in_child(
        [&] {
            const Check found = check(name, [&] { return describe_kernel(catalog, name); });
            return (found.ok ? "+" : "-") + found.finding;
        },
        60);
    if (!result.failure.empty()) throw PluginError("it " + result.failure + " as it was opened");
    if (result.said.front() == '-') throw PluginError(result.said.substr(1));
    return result.said.substr(1);
}

void check_backends(const PluginCatalog& catalog, std::vector<Check>& checks) {
    const std::vector<std::string> names = catalog.names(PluginKind::kernel);
    if (names.empty()) checks.push_back({"kernels", "no kernel plugin was found", false});
    for (const std::string& name : names)
        checks.push_back(check("kernel " + name, [&] { return kernel_in_child(catalog, name); }));
}

void check_plugins(const PluginCatalog& catalog, std::vector<Check>& checks) {
    int usable = 0;
    for (const ListedPlugin& plugin : list_in_child(catalog)) {
        if (plugin.usable()) ++usable;
        if (!plugin.usable())
            checks.push_back({"plugin " + plugin.name, why_unused(plugin), plugin.refused.empty()});
    }
    checks.push_back({"plugins", std::to_string(usable) + " usable", usable > 0});
    for (const std::string& exposed : exposed_folders(catalog.folders()))
        checks.push_back({"plugin folder", exposed, false});
}

/// Where MPI and programs that gnnbench starts put files, and what they need there at least.
struct ScratchFolder {
    std::string what;
    fs::path path;
    std::uintmax_t least_mib;
};
std::vector<ScratchFolder> scratch_folders() {
    std::vector<ScratchFolder> all{{"temporary files", temporary_files(), 64}};
    return all;
}

/// Without energy everything else is measured, so its absence is no fault.
void check_energy(std::vector<Check>& checks) {
    const EnergyZones found = find_zones(powercap_folder(), on_virtual_machine());
    std::vector<std::string> names;
    for (const EnergyZone& zone : found.zones) names.push_back(zone.name);
    checks.push_back({"energy of processors",
                      found.reason.empty() ? fmt::format("{}", fmt::join(names, ", ")) : "none: " + found.reason,
                      true});
    // In a process of its own, as every library of a driver.
    const ChildResult devices = call_in_child(
        [] {
            try {
                return DeviceEnergy::readable();
            } catch (const EnvironmentError& e) {
                return std::string("none: ") + e.what();
            }
        },
        60);
    checks.push_back(
        {"energy of devices", devices.failure.empty() ? devices.said : "none: NVML " + devices.failure, true});
}

std::vector<Check> examine(const GlobalOptions& options) {
    std::vector<Check> checks;
    checks.push_back(check("mpiexec", [] {
        const Mpiexec mpiexec = find_mpiexec();
        return mpiexec.version + " at " + mpiexec.path;
    }));
    checks.push_back(check("worker", [] { return find_worker(mpi_at_hand().flavour); }));
    if (!std::getenv("SLURM_STEP_ID"))  // there srun starts the ranks
        checks.push_back(check("two ranks", [] { return two_ranks(); }));
    const std::string limits = why_limits_too_low(usable_cores());
    checks.push_back(
        {"limits", limits.empty() ? "let as many ranks start as there are cores" : limits, limits.empty()});
    const std::string shared_memory_remark = remark_on_shared_files(usable_cores());
    checks.push_back(
        {"shared memory",
         shared_memory_remark.empty() ? "/dev/shm" + megabytes_free("/dev/shm", 0) : shared_memory_remark, true});
    const Machine machine = this_machine({});
    checks.push_back({"machine",
                      machine.cpu + ", " + std::to_string(machine.cores) + " cores, " +
                          std::to_string(machine.memory_gib) + " GiB",
                      true});
    check_energy(checks);
    const PluginCatalog catalog;
    check_plugins(catalog, checks);
    check_backends(catalog, checks);
    checks.push_back(check("database", [&] {
        return writable(options.database) + megabytes_free(options.database, least_free_mib);
    }));
    const fs::path datasets = Catalog::at(options.data_dir).folder();
    checks.push_back(
        check("datasets", [&] { return writable(datasets) + megabytes_free(datasets, least_free_mib); }));
    for (const auto& [what, folder, least_mib] : scratch_folders())
        checks.push_back(check(what, [&] { return writable(folder) + megabytes_free(folder, least_mib); }));
    return checks;
}

/// The launcher to check, and its options.
struct DoctorChoice {
    LauncherChoice launcher;
    bool as_json = false;
};

/// Asks the launcher's programs, and runs the same checks on a node.
void examine_cluster(const LauncherChoice& choice, const GlobalOptions& options, std::vector<Check>& checks) {
    std::shared_ptr<const DeclaredLauncher> launcher;
    checks.push_back(check("launcher", [&] {
        launcher =
            std::make_shared<DeclaredLauncher>(launcher_declaration(choice.file), launcher_settings(choice));
        const ClusterNodes& n = launcher->nodes();
        return fmt::format("{}: nodes of {}{}, {}", launcher->machine().cpu, plural(n.cores, "core"),
                           n.memory_mib > 0 ? fmt::format(" and {} MiB", n.memory_mib) : "",
                           n.has_gpus ? "with GPUs" : "without GPUs that it knows of");
    }));
    if (!launcher) return;
    if (const auto& jobs = launcher->declaration().jobs)
        checks.push_back(check("jobs", [&] {
            launcher_program(launcher->declaration(), jobs->submit.run.at(0).at(0));
            launcher_program(launcher->declaration(), jobs->cancel.at(0).at(0));
            const auto known = JobQueue(launcher->declaration()).jobs_named("gnnbench-", false);
            return fmt::format("{} of gnnbench in the queue", plural(std::ssize(known), "job"));
        }));
    if (launcher->declaration().start.probe.empty()) return;
    nlohmann::json answer;
    checks.push_back(check("compute node", [&] {
        const std::string here = fs::read_symlink("/proc/self/exe");
        std::vector<std::string> command{here, "doctor", "--json", "--database",
                                         fs::absolute(options.database).string()};
        if (!options.data_dir.empty())
            command.insert(command.end(), {"--data-dir", fs::absolute(options.data_dir).string()});
        const std::string text = launcher->output_on_node(command, 60);
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
        ->type_name("LAUNCHER");
    command->add_option("--partition", choice->launcher.partition, "Partition or queue (default: the scheduler's)")
        ->type_name("PARTITION");
    command->add_option("--account", choice->launcher.account, "Account or project (default: the scheduler's)")
        ->type_name("ACCOUNT");
    command->add_option("--launcher-option", choice->launcher.options, "A further option of it (repeatable)")
        ->type_name("OPTION");
    command->add_option("--hosts", choice->launcher.hosts, "File of hosts, for the launcher ssh")
        ->type_name("FILE");
    command->callback([&, choice] {
        action = [&, choice] {
            std::vector<Check> checks;
            choice->launcher.file = load_launcher(choice->launcher.name);
            if (choice->launcher.elsewhere())
                examine_cluster(choice->launcher, options, checks);
            else
                checks = examine(options);
            return print(checks, choice->as_json);
        };
    });
}

}  // namespace gnnbench
