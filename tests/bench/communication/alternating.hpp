#pragma once
#include <memory>
#include <vector>

#include <gnnbench/transport.hpp>
#include <gnnbench/volume.hpp>

#include "mpi/check.hpp"

namespace gnnbench::bench {

/// Who makes the calls of an epoch: the transport under test, or MPI alone by its non-blocking functions and a wait, or
/// by its blocking ones.
enum class Maker { ours, non_blocking, blocking };

/// The calls of an epoch.
struct Turn {
    Maker maker = Maker::ours;
    struct Call {
        CommOp operation;
        double seconds;
    };
    std::vector<Call> calls;  ///< that MPI alone made
};

/// A transport that completes every call before it returns, so that each operation is alone on the wire; in turns it
/// leaves a call to `inner` or makes it by MPI alone, on the very memory and in the very place: whatever computation
/// left in the caches is there for both.
std::unique_ptr<Transport> make_alternating_transport(std::unique_ptr<Transport> inner, MPI_Comm same_ranks,
                                                      Turn& turn);

}  // namespace gnnbench::bench
