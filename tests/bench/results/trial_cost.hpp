#pragma once
#include <filesystem>

#include "results/limit_report.hpp"

namespace gnnbench::bench {

/// What `gnnbench run` adds to a trial: some tiny trials by it, and as many launches of the same worker on the same
/// request by mpiexec alone, in turns. `folder`: for experiment, datasets and databases.
void bench_trials(const std::filesystem::path& folder, int trials, int rounds, double limit_s,
                  LimitReport& report);

}  // namespace gnnbench::bench
