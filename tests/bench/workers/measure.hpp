#pragma once
#include <functional>
#include <vector>

#include <nlohmann/json.hpp>

#include <gnnbench/strategy.hpp>

#include "plugin/loader.hpp"

/// What worker_ranks measures: ours and a bare counterpart, by turns within each round. Every result is a JSON object
/// {what, ours_s, bare_s, ratio}, meaningful on rank 0: times are the medians over rounds, the ratio is the median over
/// rounds of each round's ratio.
namespace gnnbench::bench {

struct Ground {
    const PluginCatalog& catalog;
    const ProcessGroup& world;
    int rounds = 1;
    std::int64_t repetitions = 1;  ///< of a small operation in a round
};

/// Rounds of both, after one that is not timed. `ours` and `bare` give seconds.
nlohmann::json by_turns(const Ground& g, const std::string& what, const std::function<double()>& ours,
                        const std::function<double()>& bare);

/// Of two ranks, rank 1 takes items from a pool whose counter is in rank 0's memory; bare: MPI_Fetch_and_op and a
/// flush.
nlohmann::json measure_pool(const Ground& g);

/// Rank 1 agrees on a partner in Algorithm 6, and leaves the pair, alone; bare: the same one-sided operations in the
/// same order.
nlohmann::json measure_agreement(const Ground& g);

/// Two ranks exchange so many float32 values and average; bare: MPI_Sendrecv of the same bytes.
nlohmann::json measure_averaging(const Ground& g, std::int64_t elements);

/// One rank alone: an epoch of cluster-gcn on a generated graph; bare: the epoch's own GEMMs, on the same memory.
nlohmann::json measure_epoch(const Ground& g, const nlohmann::json& setting);

double seconds_of(const std::function<void()>& work);

}  // namespace gnnbench::bench
