#pragma once
#include "run/job_folder.hpp"

namespace gnnbench {

/// Runs a job's trials, on the first of its nodes. Opens no database: it writes everything to the task's journal, which
/// the job's follower reads. Stops early on an interrupt.
void run_task(const JobTask& task);

}  // namespace gnnbench
