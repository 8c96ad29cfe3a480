#pragma once
#include <csignal>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.hpp"
#include "launch/environment.hpp"
#include "launch/machine.hpp"
#include "launch/mpiexec.hpp"
#include "launch/nodes.hpp"
#include "launch/worker_program.hpp"

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
    double late_step_timeout_s = 0;  ///< of what follows the trial's own end; 0: part of `timeout_s`
    int trials_at_once = 1;          ///< concurrent trials that share the launcher's cores
    bool needs_gpus = false;         ///< each rank one
    bool simulated = false;          ///< one process is all of its ranks, and needs no MPI; `ranks` is 1
    std::vector<int> cpus{};         ///< that all its processes run on; empty: those of this process
};

struct LaunchEnd {
    TrialStatus status = TrialStatus::failed;  ///< ok, failed, crashed, oom, timeout or interrupted
    int exit_code = 0;                         ///< of the launching program; 0 where a signal ended it
    int signal = 0;                            ///< that ended a rank or the launching program; 0: none
    std::string reason;                        ///< one sentence; empty if ok
    std::string log_tail;                      ///< the end of what all ranks printed; valid UTF-8
    double wall_s = 0;                         ///< without the time it waited for its turn
    bool in_late_step = false;  ///< the trial's own end had come before; what ended so is its late step

    bool late_step_cut() const { return in_late_step && status == TrialStatus::timeout; }
};

/// What is known when a trial's launching program has ended.
struct EndSigns {
    int wait_status = 0;  ///< see waitpid
    std::string log_tail;
    bool timed_out = false, interrupted = false;
    bool oom_killed = false;
    double timeout_s = 0;
    bool in_late_step = false;        ///< the trial's own end has come
    std::string program = "mpiexec";  ///< that was started
};
/// What the launcher itself says of a failure's cause in a log, on one line; empty where it says nothing of it.
std::string launcher_words(std::string_view log);
/// Classifies mpiexec's exit status and log.
LaunchEnd classify(const EndSigns& signs);

/// What is started for a trial.
struct LaunchProgram {
    std::vector<std::string> command;
    Environment environment;
    int signal_on_our_death = SIGKILL;  ///< signal that it gets when this process is killed
    double polite_s = 1.5;              ///< time to end its ranks after SIGTERM, before SIGKILL
    std::vector<int> cpus{};            ///< that it is bound to; empty: those of this process
};

/// How a trial's ranks are started, and on which machine.
class Launcher {
public:
    virtual ~Launcher() = default;
    /// Trials on equal machines are comparable.
    const Machine& machine() const { return machine_; }
    /// That ranks of one trial may use, over all its hosts.
    int cores() const { return cores_; }
    /// The same of memory; 0: unknown.
    std::int64_t memory_bytes() const { return memory_bytes_; }
    /// Whether a trial gets as many nodes as its ranks need; cores() and memory_bytes() are of one of them then.
    bool adds_nodes() const { return as_many_as_needed(); }
    /// Of all nodes that so many ranks get.
    int cores_for(int ranks, int threads_per_rank) const {
        return adds_nodes() ? nodes_for(ranks * threads_per_rank, cores_) * cores_ : cores_;
    }
    /// Ranks run on other hosts, so only those can tell what they support.
    bool on_other_hosts() const { return on_other_hosts_; }

    /// The program that its ranks run. Throws EnvironmentError if it is missing.
    std::string worker() const { return chosen_worker(); }

    /// `shared_folder`: see trial_environment.
    LaunchProgram program(const TrialLaunch& launch, const std::string& shared_folder) const {
        return program_for(launch, shared_folder);
    }
    LaunchEnd judge(const EndSigns& signs) const { return judged(signs); }
    /// Whether the trial still waits for resources, according to its output.
    bool waits(const std::string& log) const { return still_waits(log); }

protected:
    Launcher(Machine machine, int cores, std::int64_t memory_bytes, bool on_other_hosts)
        : machine_(std::move(machine)),
          cores_(cores),
          memory_bytes_(memory_bytes),
          on_other_hosts_(on_other_hosts) {}

private:
    virtual LaunchProgram program_for(const TrialLaunch& launch, const std::string& shared_folder) const = 0;
    virtual std::string chosen_worker() const { return find_worker(); }
    virtual LaunchEnd judged(const EndSigns& signs) const { return classify(signs); }
    virtual bool still_waits(const std::string&) const { return false; }
    virtual bool as_many_as_needed() const { return false; }

    Machine machine_;
    int cores_;
    std::int64_t memory_bytes_;
    bool on_other_hosts_;
};

}  // namespace gnnbench
