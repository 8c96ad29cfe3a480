#pragma once
#include <optional>
#include <string>

#include "partitioning/cases.hpp"

namespace gnnbench::bench {

struct OtherResult {
    std::int64_t volume = 0;
    double cpu_s = 0;
};

/// Medians of PyPI's mtkahypar with its preset `default` or `quality`, run by this Python; nothing if it is empty or
/// fails.
std::optional<OtherResult> run_mtkahypar(const std::string& python, const PartitioningCase& c, double imbalance,
                                         int seeds, const std::string& preset);

}  // namespace gnnbench::bench
