#pragma once
#include <memory>
#include <span>
#include <vector>

#include <gnnbench/transport.hpp>
#include <gnnbench/volume.hpp>

#include "core/mpi_check.hpp"

namespace gnnbench::bench {

/// One call of a transport, with all that is needed to make it again.
struct Call {
    CommOp operation = CommOp::broadcast;
    MPI_Comm comm = MPI_COMM_NULL;  ///< of the same ranks, in the same order
    const void* from = nullptr;
    void* to = nullptr;        ///< where the result is; the same memory as `from` for operations in place
    std::int64_t size = 0;     ///< elements for sums, bytes else
    DType dtype = DType::f32;  ///< of sums
    ReduceOp reduce = ReduceOp::sum;
    int root = 0;
    std::vector<std::int64_t> counts{};  ///< by rank: bytes of an all-gather, elements of a reduce-scatter
    std::vector<Message> sends{}, receives{};
};

/// The calls that were made while it was on.
struct Recording {
    bool on = false;
    std::vector<Call> calls;
};

/// A transport that notes every call, and completes it before it returns: each operation is alone on the wire, and
/// what the communicator times is that operation and nothing else.
std::unique_ptr<Transport> make_recording_transport(std::unique_ptr<Transport> inner, MPI_Comm same_ranks,
                                                    Recording& recording);

}  // namespace gnnbench::bench
