#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "partitioning/cases.hpp"
#include "plugin/loader.hpp"

namespace gnnbench::bench {

struct Measured {
    std::int64_t volume = 0;      ///< connectivity−1, median over seeds
    double seconds = 0;           ///< median over seeds
    double imbalance = 0;         ///< the worst, of nonzeros with the diagonal
    std::int64_t peak_bytes = 0;  ///< the most that the process grew by while partitioning
};

using Settings = std::vector<std::pair<std::string, std::string>>;

/// Partitions with seeds 1 … `seeds`.
Measured measure(const PluginCatalog& catalog, const std::string& name, const PartitioningCase& c, int seeds,
                 const Settings& settings);

}  // namespace gnnbench::bench
