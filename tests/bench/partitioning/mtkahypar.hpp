#pragma once
#include <optional>
#include <string>

#include "partitioning/cases.hpp"

namespace gnnbench::bench {

struct OtherResult {
    std::int64_t volume = 0;
    double seconds = 0;
};

/// Medians of PyPI's mtkahypar, default preset, run by this Python; nothing if it is empty or fails.
std::optional<OtherResult> run_mtkahypar(const std::string& python, const PartitioningCase& c, double imbalance,
                                         int seeds);

}  // namespace gnnbench::bench
