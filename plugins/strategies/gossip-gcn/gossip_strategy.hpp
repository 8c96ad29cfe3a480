#pragma once
#include <memory>

#include <gnnbench/batches/cluster_worker.hpp>
#include <gnnbench/strategy.hpp>

#include "protocol.hpp"

namespace gnnbench::gossip {

/// One of the two protocols: train_active_passive or train_gossip_gcn.
using Protocol = WorkerRecord (*)(const Settings&, const Worker&);

/// Words that the protocol shares among so many workers.
using WordCount = int (*)(int workers);

/// A strategy whose workers train batches of clusters from a common pool and average in pairs, as a protocol says. Its
/// consensus is the best local model.
class GossipStrategy : public Strategy {
public:
    GossipStrategy(Protocol protocol, WordCount words) : protocol_(protocol), words_(words) {}

    std::string approximation(const Params& params) const final;
    std::string why_unsupported(const Setting& setting) const override;
    bool trains_on_batches() const final { return true; }
    PartitionNeed partition_need(const Setting& setting) const final { return clusters_needed(setting); }
    /// At most: every batch of the epoch by this worker, each with an averaging, and the one in the clean-up.
    StatedVolume stated_volume(const Problem& problem, int rank, std::int64_t element_bytes,
                               std::int64_t epoch) const final;
    std::int64_t stated_memory(const Problem& problem, int rank, std::int64_t element_bytes) const final;
    AnyTrainer make_trainer(const Problem& problem, Rank rank) const final;

private:
    Protocol protocol_;
    WordCount words_;
};

}  // namespace gnnbench::gossip
