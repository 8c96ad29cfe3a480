#pragma once
#include <map>
#include <vector>

#include <gnnbench/backend.hpp>

#include "recorder.hpp"

namespace gnnbench::bench {

/// How plain MPI makes a call: the non-blocking function and MPI_Wait at once, or the blocking function.
enum class Manner { non_blocking, blocking };

/// Recorded calls made again by MPI alone, in their order, on memory of its own that lies as theirs did: what one
/// call left in the caches is there for the next here as well.
class Replay {
public:
    /// The memory is `kernel`'s, with pages of the same size: what MPI reads of another process it pays by the page.
    Replay(const std::vector<Call>& calls, Backend& backend);

    /// Seconds of each call, after a barrier among its ranks that is not timed. Collective.
    std::vector<double> run(Manner manner);

private:
    /// A run of addresses that calls used, with our memory for it.
    struct Region {
        std::size_t bytes;
        Buffer memory;
    };
    void* shadow(const void* original);
    void make(const Call& call, Manner manner);
    void exchange(const Call& call);
    void all_to_all(const Call& call, Manner manner);

    const std::vector<Call>& calls_;
    std::map<std::uintptr_t, Region> regions_;  ///< by first address
    std::vector<MPI_Request> requests_;
};

}  // namespace gnnbench::bench
