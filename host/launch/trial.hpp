#pragma once
#include <functional>
#include <string>

#include "launch/child.hpp"
#include "launch/launcher.hpp"

namespace gnnbench {

/// Starts the trial and waits for its end, its deadline or an interrupt (see InterruptGuard), whichever comes
/// first; time spent waiting for resources does not count. `watch` is called about five times a second, and tells whether
/// the trial's own end is on record: its late step, if it has one, has a limit of its own from then on.
/// When this returns or throws, no process of the trial lives here; ending one takes at most 5 s, and under srun as
/// long as Slurm takes. Throws EnvironmentError where the launching program cannot be started.
LaunchEnd launch_trial(const Launcher& launcher, const TrialLaunch& launch, const std::function<bool()>& watch);
/// The same by mpiexec, on this host.
LaunchEnd launch_trial(const Mpiexec& mpiexec, const TrialLaunch& launch, const std::function<bool()>& watch);

/// The last bytes of a file, from the start of a line, with anything that is not UTF-8 replaced by '?'.
std::string tail_of(const std::string& path, std::size_t max_bytes = 8192);

/// Runs the worker with arguments of its own, on ranks of this host that are started as a trial's are; `mark` is in place of
/// the trial's UUID. Throws EnvironmentError where it does not start or end in time.
ProgramOutput run_workers(const Mpiexec& mpiexec, const RankLoad& load, const std::vector<std::string>& arguments,
                          std::string_view mark, double limit_s);

}  // namespace gnnbench
