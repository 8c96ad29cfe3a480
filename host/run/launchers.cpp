#include "run/launchers.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "launch/machine.hpp"
#include "record/lines.hpp"

namespace gnnbench {

SlurmSettings slurm_settings(const LauncherChoice& choice) {
    return {.partition = choice.partition,
            .account = choice.account,
            .time = choice.time,
            .nodes = static_cast<int>(choice.nodes),
            .gpus = choice.gpus,
            .mpi = choice.mpi,
            .options = choice.options};
}

std::shared_ptr<const Launcher> make_launcher(const LauncherChoice& choice) {
    if (choice.slurm()) return std::make_shared<SrunLauncher>(slurm_settings(choice));
    return std::make_shared<LocalLauncher>(find_mpiexec());
}

std::shared_ptr<const Launcher> make_direct_launcher(const LauncherChoice& choice, const char* command) {
    if (choice.name == "sbatch")
        throw SpecError(
            fmt::format("{} starts trials one by one and waits for each: expected the launcher srun or "
                        "local, found sbatch; add --launcher srun",
                        command));
    return make_launcher(choice);
}

Site site_of(const Launcher& launcher) {
    return {launcher.cores(), launcher.memory_bytes(), launcher.on_other_hosts(),
            machine_fingerprint(to_json(launcher.machine()))};
}

Site this_host() { return {usable_cores(), host_memory_bytes(), false, ""}; }

HostShape shape_of(const LauncherChoice& choice) {
    const SlurmCluster cluster = ask_slurm(slurm_settings(choice));
    return {cluster.partition.cpus, std::max(1, static_cast<int>(choice.nodes))};
}

}  // namespace gnnbench
