#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "partitioning/cases.hpp"
#include "plugin/loader.hpp"

namespace gnnbench::bench {

struct Measured {
    std::int64_t volume = 0;  ///< connectivity−1
    double wall_s = 0;
    double cpu_s = 0;             ///< of all threads
    double imbalance = 0;         ///< of nonzeros with the diagonal
    std::int64_t peak_bytes = 0;  ///< the most that the process grew by while partitioning
};

using Settings = std::vector<std::pair<std::string, std::string>>;

/// Partitions once.
Measured measure(const PluginCatalog& catalog, const std::string& name, const PartitioningCase& c, int seed,
                 const Settings& settings);

/// Medians; of imbalance and memory the worst.
Measured summary(const std::vector<Measured>& runs);

/// Of a matrix without values.
double graph_bytes(const PartitioningCase& c);

}  // namespace gnnbench::bench
