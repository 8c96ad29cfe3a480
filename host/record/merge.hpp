#pragma once
#include <cstdint>
#include <filesystem>

#include "record/database.hpp"

namespace gnnbench {

struct MergeResult {
    std::int64_t trials = 0;      ///< that came over, with all that hangs on them
    std::int64_t there = 0;       ///< that were here already (the same UUID)
    std::int64_t unfinished = 0;  ///< left out: they still run over there, or were cut off
    std::int64_t cells = 0, experiments = 0, machines = 0;  ///< that are new here
};

/// Takes over the trials of another results database, with their machine, build and tags; `imports` tells where they came
/// from. The other database is not changed; one of an older schema is copied and brought up to date first. Throws
/// SpecError where it is no results database or `other` is `database` itself.
MergeResult import_results(Database& database, const std::filesystem::path& other);

}  // namespace gnnbench
