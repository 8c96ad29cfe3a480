#pragma once
#include <string>

#include <nlohmann/json.hpp>

#include "launch/trial.hpp"

namespace gnnbench::bench {

/// Starts `program`, which lies beside this one, on so many ranks of one thread, with `request` as a JSON file whose
/// path is its argument, and returns what it wrote to the file that request["result"] names. Throws EnvironmentError
/// where it fails.
nlohmann::json by_ranks(const Mpiexec& mpiexec, const std::string& program, int ranks, nlohmann::json request);

}  // namespace gnnbench::bench
