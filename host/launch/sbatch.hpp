#pragma once
#include <string>
#include <vector>

#include "launch/slurm_text.hpp"

namespace gnnbench {

/// A job, or an array of jobs, for Slurm to run when it can.
struct BatchJob {
    std::string name;                  ///< unique, so that the job can be found again
    std::string script_file;           ///< is written
    std::string log_file;              ///< of an array with "%a" where an element's number is to be
    std::vector<std::string> options;  ///< of sbatch, one each
    int elements = 0;                  ///< of the array; 0: a job by itself
    int at_once = 0;                   ///< elements that may run at the same time; 0: any number
    std::string before;                ///< shell lines
    std::vector<std::string> command;  ///< its argument is `first`, in an array plus the element's number
    std::size_t first = 0;
};

/// The script that sbatch gets.
std::string batch_script(const BatchJob& job);
/// A BatchJob's log_file as `sbatch --output` takes it: Slurm would replace "%j" and the like in its folder, too.
std::string output_pattern(const std::string& log_file);
/// Writes the script and submits it. Returns Slurm's number of the job. Throws EnvironmentError with what sbatch said.
std::string submit(const BatchJob& job);

/// This user's jobs whose names begin so, each element of an array by itself; those that ended a while ago, too, where
/// Slurm keeps accounts. Throws EnvironmentError while Slurm does not answer.
std::vector<SlurmJob> jobs_named(const std::string& prefix, bool also_former);
/// Ends jobs, by number; ignores those that have already ended.
void cancel_jobs(const std::vector<std::string>& ids);

}  // namespace gnnbench
