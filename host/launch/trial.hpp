#pragma once
#include <functional>
#include <string>

#include "launch/mpiexec.hpp"

namespace gnnbench {

/// One launch of the worker on some ranks.
struct TrialLaunch {
    std::string trial;     ///< UUID; marks every process of the trial
    std::string worker;    ///< program
    std::string request;   ///< its only argument
    std::string log_file;  ///< what all ranks print
    int ranks = 1;
    int threads_per_rank = 1;
    double timeout_s = 3600;
    int trials_at_once = 1;  ///< that share this host's cores
};

enum class EndKind { ok, failed, crashed, out_of_memory, timeout, interrupted };
/// As journals call it: "ok", "failed", "crashed", "oom", "timeout", "interrupted".
std::string to_text(EndKind kind);

struct LaunchEnd {
    EndKind kind = EndKind::failed;
    int exit_code = 0;     ///< of mpiexec; 0 where a signal ended it
    int signal = 0;        ///< that ended a rank or mpiexec; 0: none
    std::string reason;    ///< one sentence; empty if ok
    std::string log_tail;  ///< the end of what all ranks printed; valid UTF-8
    double wall_s = 0;
};

/// Starts the trial and waits for its end, its deadline or an interrupt (see InterruptGuard), whichever comes
/// first. `watch` is called about five times a second. When this returns or throws, no process of the trial lives;
/// ending one takes at most 5 s. Throws EnvironmentError where mpiexec cannot be started.
LaunchEnd launch_trial(const Mpiexec& mpiexec, const TrialLaunch& launch, const std::function<void()>& watch);

/// What is known when a trial's launcher has ended.
struct EndSigns {
    int wait_status = 0;  ///< see waitpid
    std::string log_tail;
    bool timed_out = false, interrupted = false;
    bool oom_killer_struck = false;
    double timeout_s = 0;
};
LaunchEnd classify(const EndSigns& signs);

/// The last bytes of a file, from the start of a line, with anything that is not UTF-8 replaced by '?'.
std::string tail_of(const std::string& path, std::size_t max_bytes = 8192);

/// The program that ranks run: beside this one, or where GNNBENCH_WORKER says. Throws EnvironmentError.
std::string find_worker();

}  // namespace gnnbench
