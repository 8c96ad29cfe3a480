#pragma once
#include <string>
#include <vector>

#include "launch/declaration.hpp"
#include "launch/launcher.hpp"
#include "launch/placeholders.hpp"

namespace gnnbench {

/// What an experiment asks of its launcher.
struct LauncherSettings {
    std::string partition{}, account{};  ///< empty: the scheduler's default
    std::string time{};                  ///< as the scheduler writes it; empty: after the trials' own limits
    int nodes = 0;                       ///< 0: as few as the ranks need
    std::string gpus = "auto";  ///< "auto": one a rank where the nodes have them; "none": as `options` say
    std::string mpi{};          ///< of {mpi}; empty: what fits the MPI at hand
    std::string hosts{};        ///< a file of hosts; empty: none
    std::vector<std::string> options{};
};

/// The nodes that ranks run on, as the launcher's programs describe them.
struct ClusterNodes {
    std::map<std::string, std::string> known;  ///< "cluster", "partition" …: groups of the answers
    int cores = 1;                             ///< of the smallest node
    std::int64_t memory_mib = 0;               ///< of the smallest node; 0: unknown
    bool has_gpus = false;                     ///< on every node
    int hosts = 0;                             ///< of the file of hosts; 0: there is none
};
/// Throws EnvironmentError if the programs are missing or do not answer, or if there is no such partition.
ClusterNodes ask_nodes(const LauncherDeclaration& declaration, const LauncherSettings& settings);

/// The machine that trials run on: known before any job runs, the same for every launcher with that name of a machine.
Machine cluster_machine(const LauncherDeclaration& declaration, const ClusterNodes& nodes,
                        const LauncherSettings& settings);

/// What a trial or a job needs.
struct LaunchNeed {
    int ranks = 1, threads_per_rank = 1;
    bool gpus = false;
    double time_s = 0;  ///< 0: no limit is requested
};
/// The values of placeholders that resources are requested with, {options} among them.
Values resource_values(const LauncherDeclaration& declaration, const LauncherSettings& settings,
                       const ClusterNodes& nodes, const LaunchNeed& need);

/// A launcher that a file declares.
class DeclaredLauncher : public Launcher {
public:
    /// Asks what the nodes are.
    DeclaredLauncher(const LauncherDeclaration& declaration, const LauncherSettings& settings);
    /// Inside a job: with the given description of the nodes; asks nothing again.
    DeclaredLauncher(const LauncherDeclaration& declaration, LauncherSettings settings, ClusterNodes nodes);
    /// `local`, with this mpiexec.
    explicit DeclaredLauncher(const Mpiexec& mpiexec);

    const LauncherDeclaration& declaration() const { return declaration_; }
    const LauncherSettings& settings() const { return settings_; }
    const ClusterNodes& nodes() const { return nodes_; }

    /// Runs a short program once on a node; what it prints from the first "{" on. Throws EnvironmentError if the
    /// scheduler gives no node within `limit_s`, or the program prints none.
    std::string output_on_node(const std::vector<std::string>& command, int limit_s) const;

private:
    DeclaredLauncher(LauncherDeclaration declaration, LauncherSettings settings, ClusterNodes nodes,
                     Mpiexec mpiexec);
    LaunchProgram program_for(const TrialLaunch& launch, const std::string& shared_folder) const override;
    std::string chosen_worker() const override;
    LaunchEnd judged(const EndSigns& signs) const override;
    bool still_waits(const std::string& log) const override;
    bool as_many_as_needed() const override;
    /// `start` with these words in place of {worker} and {request}.
    std::vector<std::string> command(const LaunchNeed& need, const std::vector<std::string>& what,
                                     const std::string& trial, const Environment& environment, int limit_s) const;

    LauncherDeclaration declaration_;
    LauncherSettings settings_;
    ClusterNodes nodes_;
    Mpiexec mpiexec_;
    std::string mpi_;
};

/// A program's path. Throws EnvironmentError, saying which launcher needs it, if PATH has none.
std::string launcher_program(const LauncherDeclaration& declaration, const std::string& name);
/// Runs a short program of the launcher; throws EnvironmentError with what it said if it fails.
std::string launcher_output(const LauncherDeclaration& declaration, const WordsTemplate& run,
                            const Values& values);

}  // namespace gnnbench
