#include "launch/slurm.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>

#include "launch/child.hpp"
#include "launch/program.hpp"

namespace gnnbench {

namespace {

constexpr double answer_s = 60;  // a loaded slurmctld answers slowly

/// Options that select nodes of a partition: a different selection is a different machine.
std::string node_choice(const std::vector<std::string>& options) {
    std::string choice;
    for (std::size_t i = 0; i < options.size(); ++i) {
        const std::string& o = options[i];
        const auto is = [&](const char* prefix) { return o.starts_with(prefix); };
        if (!is("--constraint") && !is("-C") && !is("--nodelist") && !is("-w") && !is("--gres") && !is("--gpus"))
            continue;
        choice += ' ' + o;
        const bool value_follows = (o == "-C" || o == "-w" || (is("--") && o.find('=') == std::string::npos));
        if (value_follows && i + 1 < options.size()) choice += ' ' + options[++i];
    }
    return choice;
}

/// Slurm's MPI plugins, the most suitable for the linked MPI first.
std::string fitting_mpi(const std::vector<std::string>& types) {
    const bool open_mpi = linked_mpi().flavour == MpiFlavour::open_mpi;
    const std::vector<std::string> fitting =
        open_mpi ? std::vector<std::string>{"pmix"} : std::vector<std::string>{"pmi2", "pmix"};
    for (const std::string& wanted : fitting)
        if (std::find(types.begin(), types.end(), wanted) != types.end()) return wanted;
    throw EnvironmentError(fmt::format(
        "srun cannot start ranks of {}: it needs the MPI type {}, and this Slurm has {} (srun --mpi=list). Ask "
        "for "
        "Slurm's plugin, choose another with launcher.mpi, or use the launcher local inside an allocation",
        linked_mpi().version, open_mpi ? "pmix" : "pmi2 or pmix", fmt::join(types, ", ")));
}

}  // namespace

std::string slurm_program(const std::string& name) {
    if (auto found = find_program(name)) return *found;
    throw EnvironmentError(fmt::format(
        "the launchers srun and sbatch need Slurm's program '{}', which is not in PATH; work on a host of the "
        "cluster, or choose --launcher local",
        name));
}

std::string slurm_output(const std::string& name, const std::vector<std::string>& arguments) {
    std::vector<std::string> command{slurm_program(name)};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const ProgramOutput output = run_program(command, current_environment(), answer_s);
    if (output.exit_code != 0)
        throw EnvironmentError(fmt::format("'{}' failed with exit code {}: {}", fmt::join(command, " "),
                                           output.exit_code,
                                           output.text.substr(0, output.text.find_last_not_of('\n') + 1)));
    return output.text;
}

bool inside_allocation() {
    const char* job = std::getenv("SLURM_JOB_ID");
    return job && *job;
}

SlurmCluster ask_slurm(const SlurmSettings& settings) {
    const std::string config = slurm_output("scontrol", {"show", "config"});
    SlurmCluster cluster{config_value(config, "ClusterName"), config_value(config, "SLURM_VERSION"), {}};
    const std::vector<SlurmPartition> all = partitions_from(slurm_output("sinfo", {"-h", "-o", "%R|%P|%c|%m|%G"}));
    std::string wanted = settings.partition;
    if (const char* mine = std::getenv("SLURM_JOB_PARTITION"); mine && inside_allocation()) wanted = mine;
    std::vector<std::string> names;
    for (const SlurmPartition& p : all) {
        names.push_back(p.name);
        if (wanted.empty() ? !p.is_default : p.name != wanted) continue;
        cluster.partition = p;
        return cluster;
    }
    if (wanted.empty())
        throw EnvironmentError(
            fmt::format("the cluster {} has no default partition; name one with launcher.partition: {}",
                        cluster.name, fmt::join(names, ", ")));
    throw EnvironmentError(fmt::format("the cluster {} has no partition '{}'; sinfo lists {}", cluster.name,
                                       wanted, fmt::join(names, ", ")));
}

Machine slurm_machine(const SlurmCluster& cluster, const SlurmSettings& settings) {
    return {
        .cpu = fmt::format("Slurm {}/{}{}", cluster.name, cluster.partition.name, node_choice(settings.options)),
        .cores = cluster.partition.cpus,
        .memory_gib = std::llround(static_cast<double>(cluster.partition.memory_mib) / 1024),
        .mpi = linked_mpi().version};
}

std::string slurm_minutes(double seconds) {
    return std::to_string(static_cast<long>(std::ceil(seconds / 60)) + 2);
}

std::vector<std::string> slurm_options(const SlurmSettings& settings, const SlurmCluster& cluster,
                                       const SlurmNeed& need) {
    std::vector<std::string> options{fmt::format("--ntasks={}", need.ranks),
                                     fmt::format("--cpus-per-task={}", need.threads_per_rank)};
    if (!settings.partition.empty()) options.push_back("--partition=" + settings.partition);
    if (!settings.account.empty()) options.push_back("--account=" + settings.account);
    if (settings.nodes > 0) options.push_back(fmt::format("--nodes={}", settings.nodes));
    if (!settings.time.empty())
        options.push_back("--time=" + settings.time);
    else if (need.time_s > 0)
        options.push_back("--time=" + slurm_minutes(need.time_s));
    if (need.gpus && settings.gpus == "auto" && cluster.partition.has_gpus) {
        options.push_back("--gpus-per-task=1");
        // Every rank sees all devices of its host and selects its own, so that NCCL can access peer devices directly.
        options.push_back("--gpu-bind=none");
    }
    options.insert(options.end(), settings.options.begin(), settings.options.end());
    return options;
}

SrunLauncher::SrunLauncher(const SlurmSettings& settings) : SrunLauncher(settings, ask_slurm(settings)) {}

SrunLauncher::SrunLauncher(SlurmSettings settings, SlurmCluster cluster)
    : Launcher(slurm_machine(cluster, settings), cluster.partition.cpus * std::max(1, settings.nodes),
               (cluster.partition.memory_mib << 20) * std::max(1, settings.nodes), true),
      settings_(std::move(settings)),
      cluster_(std::move(cluster)),
      srun_(slurm_program("srun")),
      mpi_(settings_.mpi) {
    if (mpi_.empty()) mpi_ = fitting_mpi(mpi_types_from(slurm_output("srun", {"--mpi=list"})));
}

std::vector<std::string> SrunLauncher::command(const SlurmNeed& need, const std::vector<std::string>& what) const {
    SlurmSettings settings = settings_;
    if (inside_allocation()) settings.partition.clear(), settings.account.clear();  // are the allocation's
    std::vector<std::string> command{srun_, "--mpi=" + mpi_};
    for (const std::string& option : slurm_options(settings, cluster_, need)) {
        // "-C a100" is two words on a command line, "--comment=two words" is one.
        const std::size_t blank = option.find(' ');
        command.push_back(option.substr(0, blank < option.find('=') ? blank : std::string::npos));
        if (blank < option.find('=')) command.push_back(option.substr(blank + 1));
    }
    // One rank that fails ends them all: the others may be waiting for it.
    command.emplace_back("--kill-on-bad-exit=1");
    command.insert(command.end(), what.begin(), what.end());
    return command;
}

LaunchProgram SrunLauncher::program_for(const TrialLaunch& launch, const std::string&) const {
    const RankLoad load{launch.ranks, launch.threads_per_rank, std::max(1, cores() / launch.trials_at_once)};
    const SlurmNeed need{launch.ranks, launch.threads_per_rank, launch.needs_gpus,
                         launch.timeout_s + launch.late_step_timeout_s};
    LaunchProgram program{
        .command = command(need, {"--job-name=gnnbench-" + launch.trial, launch.worker, launch.request}),
        // Nothing is shared by launcher and ranks here, as they are on different hosts.
        .environment = trial_environment(current_environment(), linked_mpi(), load, launch.trial, "")};
    // On SIGTERM, srun also ends its ranks; on SIGKILL, it leaves them running.
    program.signal_on_our_death = SIGTERM;
    program.polite_s = 15;
    return program;
}

std::string SrunLauncher::output_on_node(const std::vector<std::string>& what, bool gpus, int limit_s) const {
    std::vector<std::string> program{fmt::format("--immediate={}", limit_s)};
    program.insert(program.end(), what.begin(), what.end());
    const SlurmNeed need{1, 1, gpus, static_cast<double>(limit_s)};
    // srun exits by itself; killed, it would leave its job in the queue.
    const ProgramOutput output = run_program(command(need, program), current_environment(), 2 * limit_s + 60);
    EndSigns signs;
    signs.wait_status = output.exit_code << 8;
    signs.log_tail = output.text;
    const std::size_t answer = output.text.find('{');
    if (answer == std::string::npos)
        throw EnvironmentError(fmt::format("no compute node of {} answered within {} s: {}", machine().cpu,
                                           limit_s, classify_srun(signs).reason));
    return output.text.substr(answer);
}

}  // namespace gnnbench
