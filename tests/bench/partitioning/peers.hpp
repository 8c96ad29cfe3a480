#pragma once
#include <string>

#include "partitioning/measured.hpp"

namespace gnnbench::bench {

/// A partitioner of PyPI, run by a Python that has it: `mtkahypar` or `kaminpar`.
struct Peer {
    std::string module;
    std::string title;
    std::string python;
};

/// Partitions once, by the tool's preset `default` or its best (`quality`), with the nonzeros of rows as weights; its parts are
/// counted as ours are. Wall time and memory are left out. EnvironmentError where it fails.
Measured measure_peer(const Peer& peer, const PartitioningCase& c, double imbalance, int seed,
                      const std::string& preset);

}  // namespace gnnbench::bench
