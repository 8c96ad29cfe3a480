#pragma once
#include <nlohmann/json.hpp>

#include <gnnbench/transport.hpp>
#include "worker/workload.hpp"

namespace gnnbench::bench {

/// A dcsbm graph by these settings, in its first split.
OwnedDataset generated_dataset(const nlohmann::json& settings);

/// The main of ranks that started_ranks.hpp starts: `measure` is called on each with the request, and what it returns
/// on the first is the result.
int rank_main(int argc, char** argv, const char* program,
              nlohmann::json (*measure)(const nlohmann::json& request, const ProcessGroup& world));

}  // namespace gnnbench::bench
