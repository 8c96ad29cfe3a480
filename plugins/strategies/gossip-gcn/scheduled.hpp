#pragma once
#include "protocol.hpp"

namespace gnnbench::gossip {

/// Shared words of scheduled partners. Each is changed by its worker alone, by fetch-and-add: there are no locks.
struct ScheduledWords {
    explicit constexpr ScheduledWords(int p) : workers(p) {}
    int workers;  ///< p
    static constexpr Word next_item{0};
    /// Rounds that a worker has come to; `has_left` more once it has left.
    static constexpr Word rounds(int worker) { return Word{1} + worker; }
    static constexpr std::int64_t has_left = std::int64_t{1} << 62;
    constexpr int words() const { return 1 + workers; }
};

/// Whom a worker meets in a round {1, 2, …}, or −1. Partners are each other's. A rotating schedule of p workers
/// repeats after p − 1 rounds, or after p where p is odd and one worker of each round is left over (circle method).
int scheduled_partner(Schedule schedule, int workers, int worker, std::int64_t round);

/// Algorithm 6 with scheduled partners (thesis, section 4.2; the README says what is left open there): the k-th interval
/// of a worker ends in its round k. Trains until the pool is empty. All workers call it with the same settings. Throws
/// LogicError for settings it cannot serve, and where shared words contradict the protocol.
WorkerRecord train_scheduled(const Settings& settings, const Worker& worker);

}  // namespace gnnbench::gossip
