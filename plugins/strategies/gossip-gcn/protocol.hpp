#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <gnnbench/batches/shared_words.hpp>
#include <gnnbench/random.hpp>

/// What the protocols of chapter 4 of the thesis on GossipGCN have in common: Algorithm 5 (active and passive workers,
/// ../gossip-active-passive) and Algorithm 6 (GossipGCN), with the mends that tests/protocol/spin/README.md derives, and
/// the two variants of Algorithm 6 that section 4.2 rejects (requested.hpp, scheduled.hpp). They decide who trains which
/// batch and who averages with whom; they know neither training nor MPI. Worker ids are {0 … workers − 1}.

namespace gnnbench::gossip {

using workers::Lock;
using workers::PairwiseExchange;
using workers::SharedWords;
using workers::Word;
using workers::WorkPool;

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

/// Which pairs meet in which round of scheduled partners.
enum class Schedule : std::uint8_t {
    pairs,     ///< 0 with 1, 2 with 3, …, in every round
    rotating,  ///< each with every other in turn, as in a round-robin tournament
};

/// The same on all workers.
struct Settings {
    int workers = 1;                      ///< p; even for Algorithm 5
    std::int64_t items = 0;               ///< of the work pool: n batches × e epochs
    std::int64_t averaging_interval = 1;  ///< batches of a worker from one averaging to the next; at least 1
    Schedule schedule = Schedule::pairs;  ///< of scheduled partners alone
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

}  // namespace gnnbench::gossip
