#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <gnnbench/gossip/shared_words.hpp>
#include <gnnbench/random.hpp>

/// The protocols of chapter 4 of the thesis on GossipGCN: Algorithm 5 (active and passive workers) and Algorithm 6
/// (GossipGCN), with the mends that tests/protocol/spin/README.md derives. They decide who trains which batch and who
/// averages with whom; they know neither training nor MPI. Worker ids are {0 … workers − 1}.

namespace gnnbench::gossip {

/// Two workers that name each other exchange a few words. Doubles as the barrier of line 34 of Algorithm 6.
class PairwiseExchange {
public:
    virtual ~PairwiseExchange();
    /// Blocks, without keeping a core busy, until `partner` calls exchange with this worker; then each has what the
    /// other gave. Both spans have the same length on both sides. Exchanges of one pair are matched in order.
    void exchange(int partner, std::span<const std::int64_t> mine, std::span<std::int64_t> theirs) {
        do_exchange(partner, mine, theirs);
    }

private:
    virtual void do_exchange(int partner, std::span<const std::int64_t> mine, std::span<std::int64_t> theirs) = 0;
};

/// Two workers that are about to average, as one of them sees it.
struct Meeting {
    int partner = 0;
    std::int64_t number = 0;         ///< of earlier averagings of these two
    std::int64_t my_batches = 0;     ///< trained by this worker, the one whose gradient is averaged included
    std::int64_t their_batches = 0;  ///< trained by the partner, likewise; the difference is the staleness
    bool they_clean_up = false;      ///< the partner has no more batches; its gradient is that of its last one
};

/// What a worker does between the protocol's steps. It is called on the worker's own thread, and holds no lock
/// meanwhile. A call that throws ends the protocol on this worker, and its partner waits: whoever started the workers
/// ends them.
class LocalTraining {
public:
    virtual ~LocalTraining();
    /// Gradients of batch `item` mod n of epoch `item` / n (Algorithm 5: 17, 18, 35, 36; Algorithm 6: 14, 15).
    virtual void compute_gradient(std::int64_t item) = 0;
    /// Averages the gradients of the current batch with the partner's, who is called for the same meeting (5: 27, 41;
    /// 6: 35).
    virtual void average(const Meeting& meeting) = 0;
    /// Updates the weights with the gradients (5: 29, 45; 6: 43). Once for each compute_gradient.
    virtual void update_weights() = 0;
    /// Averages once more with the gradients of the last batch, for the partner's sake: the weights have had them, and
    /// no update follows (5: 54; 6: 51). At most once, and last.
    virtual void average_in_clean_up(const Meeting& meeting) = 0;
};

/// The same on all workers.
struct Settings {
    int workers = 1;                      ///< p; even for Algorithm 5
    std::int64_t items = 0;               ///< of the work pool: n batches × e epochs
    std::int64_t averaging_interval = 1;  ///< batches of a worker from one averaging to the next; at least 1
};

/// What one worker needs; all of it outlives the call.
struct Worker {
    int id = 0;
    SharedWords& words;
    PairwiseExchange& pairs;
    LocalTraining& training;
    RandomStream& random;  ///< chooses partners; each worker has its own
};

/// What one worker did.
struct WorkerRecord {
    std::int64_t batches = 0;
    std::vector<std::int64_t> averagings;  ///< [workers]: with whom; a's with b are b's with a
    std::int64_t nobody_available = 0;     ///< intervals that ended without a partner
    bool averaged_in_clean_up = false;
    std::int64_t lock_retries = 0;
};

/// Algorithm 5's shared words. Passive workers are {0 … p/2 − 1}, active ones the others.
struct ActivePassiveWords {
    explicit constexpr ActivePassiveWords(int workers) : passive(workers / 2) {}
    int passive;  ///< p/2
    static constexpr Word next_item{0};
    static constexpr Word available_lock{1};
    static constexpr Word available{
        2};  ///< [p/2]: 1 where that passive worker is available; guarded by available_lock
    constexpr Word partner(int worker) const {
        return available + (passive + worker);
    }  ///< p_x + 1; 0: not paired
    constexpr Word partner_lock(int worker) const {
        return available + (2 * passive + worker);
    }  ///< guards partner(x)
    constexpr int words() const { return 2 + 3 * passive; }
};

/// Algorithm 6's shared words.
struct GossipGcnWords {
    explicit constexpr GossipGcnWords(int p) : workers(p) {}
    int workers;  ///< p
    static constexpr Word next_item{0};
    static constexpr Word available_lock{1};  ///< always taken before partner_lock
    static constexpr Word partner_lock{2};
    static constexpr Word available{3};  ///< [p]: 1 where that worker is available; guarded by available_lock
    constexpr Word partner(int worker) const {
        return available + (workers + worker);
    }  ///< gossip_partner + 1; 0: not paired
    constexpr int words() const { return 3 + 2 * workers; }
};

/// Trains until the pool is empty and nobody waits for this worker: lines 10 to 54 of Algorithm 5. All workers call
/// it with the same settings. Throws LogicError for settings it cannot serve, and where shared words contradict the
/// protocol.
WorkerRecord train_active_passive(const Settings& settings, const Worker& worker);

/// The same for lines 9 to 54 of Algorithm 6.
WorkerRecord train_gossip_gcn(const Settings& settings, const Worker& worker);

}  // namespace gnnbench::gossip
