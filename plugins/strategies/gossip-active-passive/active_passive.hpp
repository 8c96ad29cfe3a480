#pragma once
#include "protocol.hpp"

namespace gnnbench::gossip {

/// Algorithm 5's shared words. Passive workers are {0 … p/2 − 1}, active ones the others.
struct ActivePassiveWords {
    explicit constexpr ActivePassiveWords(int workers) : passive(workers / 2) {}
    int passive;  ///< p/2
    static constexpr Word next_item{0};
    static constexpr Word available_lock{1};
    /// [p/2]: 1 where that passive worker is available; guarded by available_lock
    static constexpr Word available{2};
    /// p_x + 1; 0: not paired
    constexpr Word partner(int worker) const { return available + (passive + worker); }
    /// Guards partner(x).
    constexpr Word partner_lock(int worker) const { return available + (2 * passive + worker); }
    constexpr int words() const { return 2 + 3 * passive; }
};

/// Trains until the pool is empty and nobody waits for this worker: lines 10 to 54 of Algorithm 5. All workers call
/// it with the same settings. Throws LogicError for settings it cannot serve, and where shared words contradict the
/// protocol.
WorkerRecord train_active_passive(const Settings& settings, const Worker& worker);

}  // namespace gnnbench::gossip
