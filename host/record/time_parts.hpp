#pragma once
#include <cstdint>
#include <filesystem>

namespace gnnbench {

/// Where the seconds of a trial's epoch went: means over its ranks and measured epochs.
struct TimeParts {
    double spmm_s = 0, gemm_s = 0;
    double communication_s = 0;  ///< that no computation hid, waiting for others included
    double rest_s = 0;
    double spmm_imbalance = 1;  ///< the slowest rank's SpMM ÷ the mean
};
/// Time parts of the trial with this row id, as in ComparisonCell::ok_trials.
TimeParts time_parts(const std::filesystem::path& database, std::int64_t trial);

}  // namespace gnnbench
