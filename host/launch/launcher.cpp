#include "launch/launcher.hpp"

#include <algorithm>

namespace gnnbench {

LocalLauncher::LocalLauncher(Mpiexec mpiexec)
    : Launcher(this_machine(mpiexec), usable_cores(), host_memory_bytes(), false), mpiexec_(std::move(mpiexec)) {}

LaunchProgram LocalLauncher::program_for(const TrialLaunch& launch, const std::string& shared_folder) const {
    const int here =
        launch.cpus.empty() ? std::max(1, cores() / launch.trials_at_once) : static_cast<int>(launch.cpus.size());
    const RankLoad load{launch.ranks, launch.threads_per_rank, here};
    return {
        .command = launch.simulated ? std::vector{launch.worker, launch.request}
                                    : mpiexec_command(mpiexec_, launch.ranks, launch.worker, {launch.request}),
        .environment = local_trial_environment(current_environment(), mpiexec_, load, launch.trial, shared_folder),
        .cpus = launch.cpus};
}

}  // namespace gnnbench
