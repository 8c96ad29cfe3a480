#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gnnbench {

/// How trials are started, and what Slurm is asked for: no part of a cell's identity.
struct LauncherChoice {
    std::string name = "local";            ///< "srun", "sbatch"
    std::string partition, account, time;  ///< empty: Slurm's default; `time` as Slurm writes it
    std::int64_t nodes = 0;                ///< 0: as few as the ranks need
    std::string gpus = "auto";             ///< or "none"
    std::string mpi;                       ///< of srun's --mpi; empty: what fits
    std::vector<std::string> options;      ///< further ones of srun or sbatch
    std::string jobs = "array";            ///< sbatch: "array", "cell", "one"
    std::string before;                    ///< sbatch: shell lines that a job starts with
    double poll_s = 15;                    ///< sbatch: the longest time between two looks at the queue

    bool slurm() const { return name != "local"; }
};

/// What ranks run on: CPUs of one host, and how many hosts they spread over evenly.
struct HostShape {
    int cores = 1, hosts = 1;
};
using HostsOf = std::function<HostShape(const LauncherChoice&)>;

}  // namespace gnnbench
