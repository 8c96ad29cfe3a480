#pragma once
#include <string>
#include <sys/types.h>
#include <vector>

namespace gnnbench {

/// The live processes that carry a trial's token in their environment, on this host, whatever their parents and
/// process groups: Open MPI gives every rank a group of its own. Zombies are not alive.
std::vector<pid_t> processes_of_trial(const std::string& trial);

/// A folder in shared memory for what a trial's launcher and ranks share: whatever kills them, it can be removed
/// with all that is in it. Empty where this machine has no shared memory that we may write to.
std::string shared_memory_folder(const std::string& trial);

/// Kills them with SIGKILL, again and again until none is left or `limit_s` is over. Returns who is left.
std::vector<pid_t> kill_trial(const std::string& trial, double limit_s);

/// Marks a trial's shared-memory folder as this process's, as long as the descriptor is open, which is returned (−1: it cannot).
int own_shared_memory(const std::string& folder);
/// Removes the shared-memory folders of trials whose host was killed, whatever database they were for, and what still runs of
/// them. Their owners' locks tell.
void remove_left_shared_memory();

/// kill_trial, and removes the trial's shared memory.
void bury_trial(const std::string& trial, double limit_s);

}  // namespace gnnbench
