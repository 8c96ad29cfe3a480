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
    std::int64_t cut = 0;     ///< edges {u, v} with ends in two parts
    double wall_s = 0;
    double cpu_s = 0;             ///< of all threads
    double imbalance = 0;         ///< of nonzeros with the diagonal: heaviest part ÷ mean part − 1
    std::int64_t peak_bytes = 0;  ///< the most that the process grew by while partitioning
};

/// Of counts; a divisor of 0 counts as 1.
double ratio(std::int64_t a, std::int64_t b);

using Settings = std::vector<std::pair<std::string, std::string>>;

/// Partitions once.
Measured measure(const PluginCatalog& catalog, const std::string& name, const PartitioningCase& c, int seed,
                 const Settings& settings);

/// Counts a partition's volume, cut and imbalance.
void judge(Measured& m, const PartitioningCase& c, const Partition& partition);

/// Medians; of imbalance and memory the worst.
Measured summary(const std::vector<Measured>& runs);

/// Of a matrix without values.
double graph_bytes(const PartitioningCase& c);

}  // namespace gnnbench::bench
