#include "launch/trial.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gnnbench/error.hpp>

#include "launch/child.hpp"
#include "launch/declared_launcher.hpp"
#include "launch/environment.hpp"
#include "launch/interrupt.hpp"
#include "launch/machine.hpp"
#include "launch/oom_killer.hpp"
#include "launch/process_limits.hpp"
#include "launch/shared_folder.hpp"
#include "launch/trial_processes.hpp"
#include "launch/worker_program.hpp"

namespace gnnbench {

namespace {

using Clock = std::chrono::steady_clock;

/// Together under the promised 5 s. On SIGTERM mpiexec ends its ranks and removes its shared-memory files.
constexpr double firm_s = 1.0, sweep_s = 2.0;

/// Trials running in this process.
std::atomic<int> launches_in_progress = 0;
struct CountedLaunch {
    CountedLaunch() { ++launches_in_progress; }
    ~CountedLaunch() { --launches_in_progress; }
};

/// Whether any process is this one's child, ended or not. Processes of a trial that outlive their launcher are, since this
/// process is their subreaper; asking costs a microsecond, and looking through all processes for a trial's some
/// milliseconds.
bool has_children() {
    siginfo_t ignored;
    return waitid(P_ALL, 0, &ignored, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

/// However control leaves a trial, none of its processes survives.
class TrialInProgress {
public:
    TrialInProgress(const Launcher& launcher, const TrialLaunch& launch)
        : trial_(launch.trial),
          shared_(launcher.on_other_hosts() || launch.simulated
                      ? std::make_unique<SharedFolder>()
                      : std::make_unique<SharedFolder>(launch.trial, launch.ranks,
                                                       std::filesystem::path(launch.log_file).parent_path())),
          program_(launcher.program(launch, shared_->path())),
          child_(program_.command, program_.environment, launch.log_file, program_.signal_on_our_death,
                 program_.cpus) {}
    ~TrialInProgress() { end(); }

    std::string program() const { return std::filesystem::path(program_.command.front()).filename(); }
    std::optional<int> wait(double seconds) { return child_.wait(seconds); }

    /// SIGTERM, then SIGKILL; ranks that outlive their launcher are found by the token. Returns its wait status.
    int end() {
        if (!child_.wait(0)) {
            child_.signal_group(SIGCONT);
            child_.signal_group(SIGTERM);
            if (!wait_whole(program_.polite_s)) child_.signal_group(SIGKILL);
        }
        const std::optional<int> status = wait_whole(firm_s);
        if (launches_in_progress > 1 || has_children()) kill_trial(trial_, sweep_s);
        // Ranks whose launcher died became our children, and only we can reap them. While other trials run, that
        // would take their launchers' statuses too, so the last one reaps.
        while (launches_in_progress == 1 && waitpid(-1, nullptr, WNOHANG) > 0) {
        }
        return status.value_or(SIGKILL);
    }

private:
    /// wait() may return early on a signal; this one does not.
    std::optional<int> wait_whole(double seconds) {
        const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
        std::optional<int> status;
        while (!(status = child_.wait(0.05)) && Clock::now() < deadline) {
        }
        return status;
    }

    CountedLaunch counted_;  // before there is a child
    std::string trial_;
    std::unique_ptr<SharedFolder> shared_;
    LaunchProgram program_;
    ChildProcess child_;
};

}  // namespace

LaunchEnd launch_trial(const Launcher& launcher, const TrialLaunch& launch, const std::function<bool()>& watch) {
    if (!launcher.on_other_hosts())
        if (const std::string why = why_limits_too_low(launch.ranks); !why.empty()) throw EnvironmentError(why);
    // Ranks whose launcher died become our children, so that we can reap them.
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const OomKiller oom_killer;
    auto begin = Clock::now(), limited_since = begin;
    EndSigns signs;
    signs.timeout_s = launch.timeout_s;
    {
        TrialInProgress running(launcher, launch);
        while (!running.wait(0.2)) {
            const bool has_ended = watch();
            if (launcher.waits(tail_of(launch.log_file))) begin = limited_since = Clock::now();
            if (has_ended && !signs.in_late_step && launch.late_step_timeout_s > 0) {
                signs.in_late_step = true;
                signs.timeout_s = launch.late_step_timeout_s;
                limited_since = Clock::now();
            }
            signs.interrupted = InterruptGuard::requested();
            signs.timed_out = Clock::now() > limited_since + std::chrono::duration<double>(signs.timeout_s);
            if (signs.interrupted || signs.timed_out) break;
        }
        signs.wait_status = running.end();
        signs.program = running.program();
    }
    watch();
    signs.log_tail = tail_of(launch.log_file);
    signs.oom_killed = oom_killer.has_killed();
    LaunchEnd end = launcher.judge(signs);
    end.wall_s = std::chrono::duration<double>(Clock::now() - begin).count();
    return end;
}

LaunchEnd launch_trial(const Mpiexec& mpiexec, const TrialLaunch& launch, const std::function<bool()>& watch) {
    return launch_trial(DeclaredLauncher(mpiexec), launch, watch);
}

ProgramOutput run_workers(const Mpiexec& mpiexec, const RankLoad& load, const std::vector<std::string>& arguments,
                          std::string_view mark, double limit_s) {
    if (const std::string why = why_limits_too_low(load.ranks); !why.empty()) throw EnvironmentError(why);
    const std::string trial = std::string(mark) + '-' + std::to_string(getpid());
    const SharedFolder shared(trial, load.ranks, {});
    return run_program(mpiexec_command(mpiexec, load.ranks, find_worker(mpiexec.flavour), arguments),
                       local_trial_environment(current_environment(), mpiexec, load, trial, shared.path()),
                       limit_s);
}

}  // namespace gnnbench
