#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace gnnbench {

/// How trials are started, and what is requested from a scheduler; not part of a cell's identity.
struct LauncherChoice {
    std::string name = "local";            ///< of a launcher file: "srun", "sbatch", …
    std::string partition, account, time;  ///< empty: the scheduler's default; `time` as it writes it
    std::int64_t nodes = 0;                ///< 0: as few as the ranks need
    std::string gpus = "auto";             ///< or "none"
    std::string mpi;                       ///< of {mpi}; empty: what fits
    std::string hosts;                     ///< file of hosts
    std::vector<std::string> options;      ///< further ones of the commands that request resources
    std::string jobs = "array";            ///< what is submitted: "array", "cell", "one"
    std::string before;                    ///< shell lines that a job starts with
    double poll_s = 15;                    ///< the longest interval between two polls of the queue
    nlohmann::json file;                   ///< the content of the launcher's file; null: local

    /// Ranks run on other hosts.
    bool elsewhere() const { return !file.is_null() && file.at("hosts") == "others"; }
    /// Trials run in jobs that a scheduler starts when it can.
    bool submits() const { return !file.is_null() && file.contains("jobs"); }
    bool has_arrays() const { return submits() && file.at("jobs").contains("array"); }
};

/// The hosts of the ranks: CPUs of one host, and the number of hosts, over which ranks are spread evenly.
struct HostShape {
    int cores = 1, hosts = 1;
};
using HostsOf = std::function<HostShape(const LauncherChoice&)>;

}  // namespace gnnbench
