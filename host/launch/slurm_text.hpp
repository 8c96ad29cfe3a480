#pragma once
/// Parsers of the output of Slurm's programs; no process is started here.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launch/launcher.hpp"

namespace gnnbench {

/// One partition, as `sinfo -h -o '%R|%P|%c|%m|%G'` prints it: one line for each kind of node.
struct SlurmPartition {
    std::string name;
    bool is_default = false;
    int cpus = 1;                 ///< of the smallest node
    std::int64_t memory_mib = 0;  ///< of the smallest node; 0: unknown
    bool has_gpus = false;        ///< on every node, as generic resource "gpu"
};
std::vector<SlurmPartition> partitions_from(const std::string& sinfo);
/// The value of a line "key = value" of `scontrol show config`; empty where there is none.
std::string config_value(const std::string& config, const std::string& key);
/// The types that `srun --mpi=list` names.
std::vector<std::string> mpi_types_from(const std::string& list);

/// The state of a job, or of one element of a job array.
struct SlurmJob {
    std::string id;      ///< "12", "12_3"
    std::string name;    ///< "gnnbench-…"
    std::string state;   ///< "PENDING", "RUNNING", "COMPLETED", "TIMEOUT", "OUT_OF_MEMORY" …
    std::string reason;  ///< "Resources", "NonZeroExitCode"; empty: none
    /// It neither runs nor waits.
    bool ended() const;
};
/// Parses the output of `squeue -h -r -t all -o '%i|%j|%T|%r'` or `sacct -n -P -X -o JobID,JobName,State,Reason`.
std::vector<SlurmJob> jobs_from(const std::string& listing);
/// The number in what `sbatch --parsable` prints ("12", "12;cluster"); empty where there is none.
std::string submitted_job(const std::string& text);

/// The outcome of a trial whose job ended without reporting one. `log_tail` is not filled in.
LaunchEnd end_of_job(const SlurmJob& job);
/// How srun ended: from Slurm's messages in the log, else from the exit status.
LaunchEnd classify_srun(const EndSigns& signs);
/// Whether srun waits for resources, according to its output.
bool srun_waits(const std::string& log);

}  // namespace gnnbench
