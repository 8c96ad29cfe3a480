#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "record/database.hpp"
#include "run/progress.hpp"

namespace gnnbench {

/// Throws SpecError for a tag that `compare` could not read.
void check_tag(const std::string& tag);

/// `run --tag`: names the trials that a run measures, and no others.
class RunTag {
public:
    /// Before the run. An empty tag: nothing is named.
    RunTag(Database& database, std::string experiment, std::string tag);
    /// After it, however it ended. `measured`: UUIDs of the trials that it measured.
    void name_trials(const std::vector<std::string>& measured, Progress& progress);

private:
    Database& database_;
    std::string experiment_, tag_;
    std::int64_t last_before_ = 0;  ///< row id of the newest trial
};

}  // namespace gnnbench
