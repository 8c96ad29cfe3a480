#pragma once
#include "protocol.hpp"

namespace gnnbench::gossip {

/// Algorithm 6's shared words.
struct GossipGcnWords {
    explicit constexpr GossipGcnWords(int p) : workers(p) {}
    int workers;  ///< p
    static constexpr Word next_item{0};
    static constexpr Word available_lock{1};  ///< always taken before partner_lock
    static constexpr Word partner_lock{2};
    /// [p]: 1 where that worker is available; guarded by available_lock
    static constexpr Word available{3};
    /// gossip_partner + 1; 0: not paired
    constexpr Word partner(int worker) const { return available + (workers + worker); }
    constexpr int words() const { return 3 + 2 * workers; }
};

/// Trains until the pool is empty and nobody waits for this worker: lines 9 to 54 of Algorithm 6. All workers call it
/// with the same settings. Throws LogicError for settings it cannot serve, and where shared words contradict the
/// protocol.
WorkerRecord train_gossip_gcn(const Settings& settings, const Worker& worker);

}  // namespace gnnbench::gossip
