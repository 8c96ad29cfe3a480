#pragma once
#include <optional>
#include <string>
#include <vector>

#include "launch/launcher.hpp"
#include "launch/slurm_text.hpp"

namespace gnnbench {

/// The resources requested from Slurm, by srun for a trial or by sbatch for a job of several.
struct SlurmSettings {
    std::string partition, account;  ///< empty: Slurm's default
    std::string time;                ///< as Slurm writes it, "01:30:00"; empty: after the trials' own limits
    int nodes = 0;                   ///< 0: as few as the ranks need
    std::string gpus = "auto";       ///< "auto": one a task where the nodes have them; "none": as `options` say
    std::string mpi;                 ///< of srun's --mpi; empty: what fits the MPI that gnnbench was built with
    std::vector<std::string> options;
};

/// A cluster as Slurm's programs describe it.
struct SlurmCluster {
    std::string name, version;
    SlurmPartition partition;  ///< the one that jobs go to
};

/// Whether this process runs inside an allocation: srun then starts ranks in that.
bool inside_allocation();

/// Throws EnvironmentError if Slurm is missing or does not answer, or if there is no such partition.
SlurmCluster ask_slurm(const SlurmSettings& settings);

/// The machine that Slurm's jobs run on: known before any job runs, and the same for srun and sbatch.
Machine slurm_machine(const SlurmCluster& cluster, const SlurmSettings& settings);

/// A trial's needs, as Slurm's options; the same for srun and sbatch.
struct SlurmNeed {
    int ranks = 1, threads_per_rank = 1;
    bool gpus = false;
    double time_s = 0;  ///< 0: no limit is requested
};
std::vector<std::string> slurm_options(const SlurmSettings& settings, const SlurmCluster& cluster,
                                       const SlurmNeed& need);
/// "30" or "90": minutes, rounded up with a margin, so that our own limit expires first.
std::string slurm_minutes(double seconds);

/// srun, from a host of the cluster or inside an allocation.
class SrunLauncher : public Launcher {
public:
    /// Asks Slurm.
    explicit SrunLauncher(const SlurmSettings& settings);
    /// Inside a job: uses the given description of the cluster and does not query Slurm again.
    SrunLauncher(SlurmSettings settings, SlurmCluster cluster);
    const SlurmCluster& cluster() const { return cluster_; }

    /// Runs a short program once on a compute node; what it prints from the first "{" on. Throws EnvironmentError
    /// if Slurm gives no node within `limit_s`, or the program prints none.
    std::string output_on_node(const std::vector<std::string>& command, bool gpus, int limit_s) const;

private:
    LaunchProgram program_for(const TrialLaunch& launch, const std::string& shared_folder) const override;
    LaunchEnd judged(const EndSigns& signs) const override { return classify_srun(signs); }
    bool still_waits(const std::string& log) const override { return srun_waits(log); }
    std::vector<std::string> command(const SlurmNeed& need, const std::vector<std::string>& what) const;

    SlurmSettings settings_;
    SlurmCluster cluster_;
    std::string srun_, mpi_;
};

/// The program's path. Throws EnvironmentError, saying what the program is for, if PATH has none.
std::string slurm_program(const std::string& name);
/// Runs one of Slurm's short programs; throws EnvironmentError with what it said if it fails.
std::string slurm_output(const std::string& name, const std::vector<std::string>& arguments);

}  // namespace gnnbench
