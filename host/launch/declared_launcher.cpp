#include "launch/declared_launcher.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>

#include "launch/child.hpp"
#include "launch/log_end.hpp"
#include "launch/pattern.hpp"
#include "launch/program.hpp"
#include "launch/worker_program.hpp"

namespace gnnbench {

namespace {

constexpr double answer_s = 60;  // a loaded scheduler answers slowly

/// "-C a100" is two words on a command line, "--comment=two words" is one.
void add_option(std::vector<std::string>& words, const std::string& option) {
    const std::size_t blank = option.find(' ');
    const bool two = blank < option.find('=');
    words.push_back(option.substr(0, two ? blank : std::string::npos));
    if (two) words.push_back(option.substr(blank + 1));
}

/// The type of ranks' start-up that suits this MPI, of those that the launcher's program lists.
std::string fitting_mpi(const LauncherDeclaration& declaration, const Mpiexec& mpi) {
    const LauncherDeclaration::MpiTypes& types = *declaration.mpi;
    std::vector<std::string> listed;
    for (const Match& m : matches_of(types.ask.find, launcher_output(declaration, types.ask.run, {})))
        if (const auto found = m.find("mpi"); found != m.end()) listed.push_back(found->second);
    const std::vector<std::string>& fitting = mpi.flavour == MpiFlavour::open_mpi ? types.open_mpi : types.mpich;
    for (const std::string& wanted : fitting)
        if (std::ranges::find(listed, wanted) != listed.end()) return wanted;
    throw EnvironmentError(fmt::format(
        "the launcher {} cannot start ranks of {}: it needs the MPI type {}, and '{}' lists {}. Ask for the "
        "scheduler's plugin, choose another with launcher.mpi, or use the launcher local inside an allocation",
        declaration.name, mpi.version, fmt::join(fitting, " or "), fmt::join(filled(types.ask.run, {}), " "),
        listed.empty() ? "none" : fmt::format("{}", fmt::join(listed, ", "))));
}

/// Environment variables that ranks on other hosts do not inherit: `env NAME=value …`.
std::vector<std::string> as_words(const Environment& environment) {
    std::vector<std::string> words{"env"};
    for (const std::string& variable : environment)
        for (const std::string_view prefix :
             {"GNNBENCH_", "OMP_", "OPENBLAS_", "MKL_", "BLIS_", "LD_LIBRARY_PATH="})
            if (variable.starts_with(prefix)) words.push_back(variable);
    return words;
}

}  // namespace

std::string launcher_program(const LauncherDeclaration& declaration, const std::string& name) {
    if (auto found = find_program(name)) return *found;
    throw EnvironmentError(
        fmt::format("the launcher {} needs the program '{}', which is not in PATH; work on a host of the cluster, "
                    "or choose --launcher local",
                    declaration.name, name));
}

std::string launcher_output(const LauncherDeclaration& declaration, const WordsTemplate& run,
                            const Values& values) {
    std::vector<std::string> command = filled(run, values);
    command.front() = launcher_program(declaration, command.front());
    const ProgramOutput output = run_program(command, unranked_environment(), answer_s);
    if (output.exit_code != 0)
        throw EnvironmentError(fmt::format("'{}' failed with exit code {}: {}", fmt::join(command, " "),
                                           output.exit_code,
                                           output.text.substr(0, output.text.find_last_not_of('\n') + 1)));
    return output.text;
}

Values resource_values(const LauncherDeclaration& declaration, const LauncherSettings& settings,
                       const ClusterNodes& nodes, const LaunchNeed& need) {
    const int slots = need.ranks * need.threads_per_rank;
    const int needed = settings.nodes > 0 ? settings.nodes : nodes_for(slots, nodes.cores);
    const int on_one = (need.ranks + needed - 1) / needed;
    Values values;
    const auto set = [&](const char* name, const std::string& text) {
        if (!text.empty()) values[name] = {text};
    };
    for (const auto& [name, text] : nodes.known) set(name.c_str(), text);
    values.erase("partition");  // is requested if the experiment says so
    set("ranks", std::to_string(need.ranks));
    set("threads", std::to_string(need.threads_per_rank));
    set("slots", std::to_string(slots));
    set("nodes", settings.nodes > 0 ? std::to_string(settings.nodes) : "");
    set("nodes_needed", std::to_string(needed));
    set("ranks_per_node", std::to_string(on_one));
    set("slots_per_node", std::to_string(on_one * need.threads_per_rank));
    set("hosts", settings.hosts);
    // Are the allocation's.
    const bool inside = declaration.inside_allocation();
    set("partition", inside ? "" : settings.partition);
    set("account", inside ? "" : settings.account);
    set("time", settings.time);
    if (settings.time.empty() && need.time_s > 0) {
        // Rounded up with a margin, so that our own limit expires first.
        const long minutes = static_cast<long>(std::ceil(need.time_s / 60)) + 2;
        set("minutes", std::to_string(minutes));
        set("seconds", std::to_string(minutes * 60));
        set("clock", fmt::format("{:02}:{:02}:00", minutes / 60, minutes % 60));
    }
    if (need.gpus && settings.gpus == "auto" && nodes.has_gpus) {
        set("gpus", std::to_string(need.ranks));
        set("gpus_per_rank", "1");
        set("gpus_per_node", std::to_string(on_one));
    }
    std::vector<std::string> options = filled(declaration.options, values);
    for (const std::string& o : settings.options) add_option(options, o);
    values["options"] = std::move(options);
    return values;
}

DeclaredLauncher::DeclaredLauncher(const LauncherDeclaration& declaration, const LauncherSettings& settings)
    : DeclaredLauncher(declaration, settings,
                       declaration.elsewhere ? ask_nodes(declaration, settings) : ClusterNodes{}) {}

DeclaredLauncher::DeclaredLauncher(const LauncherDeclaration& declaration, LauncherSettings settings,
                                   ClusterNodes nodes)
    : DeclaredLauncher(declaration, std::move(settings), std::move(nodes),
                       mentions(declaration.start.run, "mpiexec") ? find_mpiexec() : mpi_at_hand()) {}

DeclaredLauncher::DeclaredLauncher(const Mpiexec& mpiexec)
    : DeclaredLauncher(LauncherDeclaration{}, {}, ClusterNodes{}, mpiexec) {}

DeclaredLauncher::DeclaredLauncher(LauncherDeclaration declaration, LauncherSettings settings, ClusterNodes nodes,
                                   Mpiexec mpiexec)
    : Launcher(declaration.elsewhere ? cluster_machine(declaration, nodes, settings) : this_machine(mpiexec),
               declaration.elsewhere ? nodes.cores * std::max({1, settings.nodes, nodes.hosts}) : usable_cores(),
               declaration.elsewhere ? (nodes.memory_mib << 20) * std::max({1, settings.nodes, nodes.hosts})
                                     : host_memory_bytes(),
               declaration.elsewhere),
      declaration_(std::move(declaration)),
      settings_(std::move(settings)),
      nodes_(std::move(nodes)),
      mpiexec_(std::move(mpiexec)),
      mpi_(settings_.mpi) {
    if (mpi_.empty() && declaration_.mpi) mpi_ = fitting_mpi(declaration_, mpiexec_);
    if (!mentions(declaration_.start.run, "mpiexec"))
        launcher_program(declaration_, filled(declaration_.start.run, {}).at(0));
}

std::vector<std::string> DeclaredLauncher::command(const LaunchNeed& need, const std::vector<std::string>& what,
                                                   const std::string& trial, const Environment& environment,
                                                   int limit_s) const {
    Values values = resource_values(declaration_, settings_, nodes_, need);
    if (!mpi_.empty()) values["mpi"] = {mpi_};
    if (!mpiexec_.path.empty()) values["mpiexec"] = {mpiexec_.path};
    values["trial"] = {trial};
    values["environment"] = as_words(environment);
    values["worker"] = {what.front()};
    values["request"] = {what.begin() + 1, what.end()};
    if (limit_s > 0) {
        values["probe_s"] = {std::to_string(limit_s)};
        values["probe"] = filled(declaration_.start.probe, values);
    }
    std::vector<std::string> words = filled(declaration_.start.run, values);
    words.front() = launcher_program(declaration_, words.front());
    return words;
}

LaunchProgram DeclaredLauncher::program_for(const TrialLaunch& launch, const std::string& shared_folder) const {
    const int here = launch.cpus.empty()
                         ? std::max(1, cores_for(launch.ranks, launch.threads_per_rank) / launch.trials_at_once)
                         : static_cast<int>(launch.cpus.size());
    const RankLoad load{launch.ranks, launch.threads_per_rank, here};
    const LaunchNeed need{launch.ranks, launch.threads_per_rank, launch.needs_gpus,
                          launch.timeout_s + launch.late_step_timeout_s};
    // Nothing is shared by launcher and ranks that are on different hosts.
    Environment environment =
        on_other_hosts()
            ? trial_environment(current_environment(), mpiexec_, load, launch.trial, "")
            : local_trial_environment(current_environment(), mpiexec_, load, launch.trial, shared_folder);
    for (const auto& [name, value] : declaration_.start.environment) environment.push_back(name + '=' + value);
    LaunchProgram program{.command = {}, .environment = environment, .cpus = launch.cpus};
    program.command = launch.simulated && !on_other_hosts()
                          ? std::vector{launch.worker, launch.request}
                          : command(need, {launch.worker, launch.request}, launch.trial, environment, 0);
    if (!on_other_hosts()) return program;
    // On SIGTERM, srun and mpiexec also end ranks of other hosts; on SIGKILL, they leave them running.
    program.signal_on_our_death = SIGTERM;
    program.polite_s = 15;
    return program;
}

bool DeclaredLauncher::as_many_as_needed() const {
    return on_other_hosts() && settings_.nodes == 0 && nodes_.hosts == 0;
}

std::string DeclaredLauncher::chosen_worker() const { return find_worker(mpiexec_.flavour); }

LaunchEnd DeclaredLauncher::judged(const EndSigns& signs) const {
    return classify_start(declaration_.start, signs);
}

bool DeclaredLauncher::still_waits(const std::string& log) const {
    return waits_for_resources(declaration_.start, log);
}

std::string DeclaredLauncher::output_on_node(const std::vector<std::string>& what, int limit_s) const {
    const LaunchNeed need{1, 1, nodes_.has_gpus, static_cast<double>(limit_s)};
    const Environment environment = trial_environment(current_environment(), mpiexec_, {}, "doctor", "");
    // The launcher ends by itself; killed, it might leave its job in the queue.
    const ProgramOutput output =
        run_program(command(need, what, "doctor", environment, limit_s), unranked_environment(), 2 * limit_s + 60);
    EndSigns signs;
    signs.wait_status = output.exit_code << 8;
    signs.log_tail = output.text;
    const std::size_t answer = output.text.find('{');
    if (answer == std::string::npos)
        throw EnvironmentError(fmt::format("no compute node of {} answered within {} s: {}", machine().cpu,
                                           limit_s, judge(signs).reason));
    return output.text.substr(answer);
}

}  // namespace gnnbench
