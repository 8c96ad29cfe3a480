#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "launch/mpiexec.hpp"

namespace gnnbench {

/// Environment variables as "NAME=value".
using Environment = std::vector<std::string>;

/// The variable that marks every process of a trial with its UUID.
inline constexpr std::string_view trial_token = "GNNBENCH_TRIAL";

/// True for what a launcher or resource manager puts into the environment of a *rank*. A launcher started with
/// these believes that it is nested, and refuses. The user's own OMPI_MCA_… settings are not of this kind.
bool marks_a_rank(std::string_view name);

struct RankLoad {
    int ranks = 1;
    int threads_per_rank = 1;
    int cores = 1;  ///< usable by this process
    bool oversubscribed() const { return ranks * threads_per_rank > cores; }
};

/// The environment of a launcher of ranks: ours, without the variables that mark a rank, plus those this launcher needs for this
/// load. The user's settings for the launcher are kept; thread counts are the cell's and always set.
/// `shared_folder` is where launcher and ranks put their shared-memory files; empty: their default.
Environment trial_environment(const Environment& ours, const Mpiexec& mpiexec, const RankLoad& load,
                              std::string_view trial, std::string_view shared_folder);

/// The same where all ranks are on this host: nothing of the trial listens beyond its loopback interface.
Environment local_trial_environment(const Environment& ours, const Mpiexec& mpiexec, const RankLoad& load,
                                    std::string_view trial, std::string_view shared_folder);

/// A home where the environment has none and the user no entry of its own: programs of Open MPI need one.
void add_home(Environment& variables);

/// This process's environment.
Environment current_environment();

}  // namespace gnnbench
