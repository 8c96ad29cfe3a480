#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "protocol/ledger.hpp"

/// Deterministic simulation of the gossip protocols: all workers run in one thread, and a seed decides when each of
/// their steps happens.

namespace gnnbench::test {

/// What can be broken on purpose, all of it outside the protocol's code.
enum class Fault : std::uint8_t {
    none,
    swapped_locks,  ///< Algorithm 6: worker 0 takes the two locks in the other order
    unlocked_p,  ///< Algorithm 5: the locks of p_x keep nobody out, so that an active worker's write can be lost
    split_pool,  ///< taking an item reads the counter and writes it in two steps
    available_early,  ///< available_workers starts full, as printed: workers without a gradient are chosen
    lost_partner,     ///< Algorithm 6: line 26 is forgotten, once
    lost_answer,      ///< requested: each worker's first answer is forgotten
    missing_leave,    ///< requested, scheduled: who leaves does not say so
};
std::string name_of(Fault fault);

/// One run. Everything in it follows from the seed, and so does every step.
struct SimulatedRun {
    /// The seed chooses algorithm, workers (up to 8; a pool smaller than them at times), interval, and how long each
    /// thing takes each worker: slow workers, steps of very different length, long pauses.
    static SimulatedRun from_seed(std::uint64_t seed, Fault fault = Fault::none);
    std::string text() const;

    std::uint64_t seed = 0;
    Fault fault = Fault::none;
    Algorithm algorithm = Algorithm::gossip_gcn;
    gossip::Settings settings;
    std::vector<std::int64_t> slowdown;  ///< [workers]: factor on all that the worker does
    int step_bits = 0;                   ///< a step takes 1 to 2^step_bits units of time
    std::int64_t training = 1;           ///< units that a batch takes, or an averaging, before slowdown and jitter
};

struct SimulationResult {
    std::string mistake;     ///< empty, or what went wrong
    std::int64_t steps = 0;  ///< of all workers
    std::int64_t averagings = 0;
    std::uint64_t digest = 0;  ///< of every step in order: equal for equal seeds
};

/// Runs it to its end, or until a worker fails or no worker can go on. `trace`: print every step.
SimulationResult simulate(const SimulatedRun& run, bool trace = false);

}  // namespace gnnbench::test
