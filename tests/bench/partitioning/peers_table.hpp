#pragma once
#include <string>
#include <vector>

#include "partitioning/peers.hpp"

namespace gnnbench::bench {

/// The partitioners of PyPI beside METIS and ours: a line a partitioner and graph, and geometric means of ours ÷ each.
class PeersTable {
public:
    void add(const Peer& peer) {
        columns_.push_back({.peer = peer, .runs = {}, .log_volumes = 0, .log_seconds = 0});
    }

    /// One run of each, to be called once a seed.
    void measure(const PartitioningCase& c, double imbalance, int seed, const std::string& preset);

    /// The lines of a graph whose seeds have all run; METIS' and ours are medians of the same seeds.
    void end_case(const PartitioningCase& c, const Measured& metis, const Measured& own);

    /// Empty where nothing was added.
    std::string text() const;

private:
    struct Column {
        Peer peer;
        std::vector<Measured> runs;
        double log_volumes;  ///< Σ over graphs of log(ours ÷ its)
        double log_seconds;
    };
    std::vector<Column> columns_;
    std::string rows_;
    int cases_ = 0;
};

}  // namespace gnnbench::bench
