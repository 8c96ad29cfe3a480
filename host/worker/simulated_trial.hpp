#pragma once
#include <optional>
#include <string>

#include "worker/request.hpp"

namespace gnnbench {

/// The request in a file if its kernel simulates its ranks. Nothing also where that cannot be told: the ranks of the
/// trial then say why.
std::optional<TrialRequest> simulated_request(const std::string& path);

/// Runs a trial whose ranks this process simulates, all of them, and writes its lines, `end` too. What ranks would each
/// have (dataset, partition, index map, statements) is there once. Without MPI. Returns the exit code.
int run_simulated_trial(const TrialRequest& request);

}  // namespace gnnbench
