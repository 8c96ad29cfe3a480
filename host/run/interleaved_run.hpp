#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "run/prepare.hpp"
#include "run/progress.hpp"

namespace gnnbench {

/// One side of an interleaved measurement: a build, and the experiment as it runs it.
struct InterleavedSide {
    std::string tag;              ///< of the trials that it measures
    std::filesystem::path build;  ///< the program gnnbench, or a folder with bin/gnnbench; empty: this program
    ExperimentChoice experiment{};
};

struct InterleavedRequest {
    InterleavedSide a, b;
    std::int64_t trials = 0;  ///< of each cell on each side
    std::string where;        ///< only cells that match; see --where
    bool verify = true;       ///< each side's combinations, in its first turn
    std::uint64_t seed = 0;   ///< of who begins in each block
};

/// Measures both sides by turns: trial 0 of each side's cells, in random order of sides, then trial 1, and so on. Each
/// turn is a `gnnbench run` of the side's own build into a database of its own, imported into `places.database` when
/// it ends, so that rows are in the order of the turns, and any build that can run the experiment can take part.
/// False if it was interrupted; what was measured is kept. Throws SpecError or EnvironmentError where a side cannot
/// run.
bool run_interleaved(const InterleavedRequest& request, const RunPlaces& places, Progress& progress);

}  // namespace gnnbench
