#pragma once
#include "protocol.hpp"

namespace gnnbench::gossip {

/// Shared words of partners by request.
struct RequestedWords {
    explicit constexpr RequestedWords(int p) : workers(p) {}
    int workers;  ///< p
    static constexpr Word next_item{0};
    static constexpr Word lock{1};  ///< guards the words below
    /// [p]: whom that worker asks + 1, until it has the answer; 0: nobody
    static constexpr Word request{2};
    static constexpr std::int64_t accepted = -1, refused = -2;  ///< the answer, in place of the request
    /// [p]: 1 where that worker has left
    constexpr Word left(int worker) const { return request + (workers + worker); }
    constexpr int words() const { return 2 + 2 * workers; }
};

/// Algorithm 6 with partners by request (thesis, section 4.2, "pre-requests"; the README says what is left open there).
/// Trains until the pool is empty. All workers call it with the same settings. Throws LogicError for settings it cannot
/// serve, and where shared words contradict the protocol.
WorkerRecord train_requested(const Settings& settings, const Worker& worker);

}  // namespace gnnbench::gossip
