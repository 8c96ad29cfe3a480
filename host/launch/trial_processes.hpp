#pragma once
#include <filesystem>
#include <string>
#include <sys/types.h>
#include <vector>

namespace gnnbench {

/// The live processes that carry a trial's token in their environment, on this host, whatever their parents and
/// process groups: Open MPI gives every rank a group of its own. Zombies are not alive.
std::vector<pid_t> processes_of_trial(const std::string& trial);

/// Where a trial's SharedFolder may be: whatever kills launcher and ranks, it can be removed with its contents.
std::vector<std::filesystem::path> shared_folders_of(const std::string& trial);

/// Kills them with SIGKILL, repeatedly until none is left or `limit_s` has passed. Returns those that are left.
std::vector<pid_t> kill_trial(const std::string& trial, double limit_s);

/// Removes the shared-memory folders of trials whose host was killed, for any database, and kills their remaining
/// processes. A folder's owner lock tells whether its host lives.
void remove_left_shared_memory();

/// kill_trial, and removes the trial's shared memory.
void clean_up_trial(const std::string& trial, double limit_s);

}  // namespace gnnbench
