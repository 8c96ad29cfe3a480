#pragma once
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <span>
#include <vector>

#include <gnnbench/transport.hpp>

#include "core/mpi_check.hpp"

namespace gnnbench {

/// Messages between a check's ranks about the messages under test, by MPI on a separate communicator. Everything
/// starts without waiting; take() waits. Collective calls come in the same order on all ranks, those between two
/// ranks in the same order on both.
class ControlMessages {
public:
    explicit ControlMessages(ProcessGroup group);
    /// Waits for messages in flight, except during stack unwinding: then others may never answer.
    ~ControlMessages();

    const ProcessGroup& group() const { return group_; }

    using Handle = std::size_t;
    struct Content {
        std::vector<std::byte> bytes;
        std::vector<double> numbers;
    };

    /// bytes: the root's copy, elsewhere as many of anything.
    Handle broadcast(std::vector<std::byte> bytes, int root);
    /// Every rank's run of bytes, in rank order; this rank's is in place.
    Handle all_gather(std::vector<std::byte> all, std::span<const std::int64_t> byte_counts);
    Handle all_reduce(std::vector<double> numbers, ReduceOp op);
    void send(std::vector<std::byte> bytes, int peer);
    Handle receive(std::int64_t bytes, int peer);

    /// Its result; may be taken once.
    Content take(Handle handle);

private:
    struct Pending {
        Content content;
        std::vector<int> counts, starts;  ///< which must live as long as the request
        MPI_Request request = MPI_REQUEST_NULL;
    };
    Pending& add(Handle& handle);
    MPI_Comm comm() const { return *static_cast<MPI_Comm*>(group_.native()); }

    ProcessGroup group_;
    std::map<Handle, Pending> pending_;
    std::list<Pending> sent_;
    Handle next_ = 1;
};

}  // namespace gnnbench
