#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gnnbench {

/// How trials are started, and what is requested from Slurm; not part of a cell's identity.
struct LauncherChoice {
    std::string name = "local";            ///< "srun", "sbatch"
    std::string partition, account, time;  ///< empty: Slurm's default; `time` as Slurm writes it
    std::int64_t nodes = 0;                ///< 0: as few as the ranks need
    std::string gpus = "auto";             ///< or "none"
    std::string mpi;                       ///< of srun's --mpi; empty: what fits
    std::vector<std::string> options;      ///< further ones of srun or sbatch
    std::string jobs = "array";            ///< sbatch: "array", "cell", "one"
    std::string before;                    ///< sbatch: shell lines that a job starts with
    double poll_s = 15;                    ///< sbatch: the longest interval between two polls of the queue

    bool slurm() const { return name != "local"; }
};

/// The hosts of the ranks: CPUs of one host, and the number of hosts, over which ranks are spread evenly.
struct HostShape {
    int cores = 1, hosts = 1;
};
using HostsOf = std::function<HostShape(const LauncherChoice&)>;

}  // namespace gnnbench
