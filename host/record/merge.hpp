#pragma once
#include <cstdint>
#include <filesystem>

#include "record/database.hpp"

namespace gnnbench {

struct MergeResult {
    std::int64_t trials = 0;           ///< imported, with everything that refers to them
    std::int64_t already_present = 0;  ///< present already (the same UUID)
    std::int64_t unfinished = 0;       ///< left out: still running in the other database, or interrupted
    std::int64_t cells = 0, experiments = 0, machines = 0;  ///< that are new here
};

/// Imports the trials of another results database with their machine, build and tags; `imports` records where they came
/// from. The other database is not changed; one with an older schema is copied and migrated first. Throws
/// SpecError where it is no results database or `other` is `database` itself.
MergeResult import_results(Database& database, const std::filesystem::path& other);

}  // namespace gnnbench
