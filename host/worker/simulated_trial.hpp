#pragma once
#include "worker/request.hpp"

namespace gnnbench {

/// Whether the request's kernel simulates its ranks.
bool is_simulated(const TrialRequest& request);

/// Runs a trial whose ranks this process simulates, all of them, and writes its lines, `end` too. What ranks would each
/// have (dataset, partition, index map, statements) is there once. Without MPI. Returns the exit code.
int run_simulated_trial(const TrialRequest& request);

}  // namespace gnnbench
