#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <gnnbench/transport.hpp>

namespace gnnbench {

/// Messages between a check's ranks about the messages under test, on a path of their own. Everything starts without
/// waiting; take() waits. Collective calls come in the same order on all ranks, those between two ranks in the same order
/// on both.
class ControlMessages {
public:
    /// On a path of the processes (of_processes.hpp), or where ranks share one by letters (gnnbench/turns.hpp).
    static std::unique_ptr<ControlMessages> between(ProcessGroup group);
    virtual ~ControlMessages() = default;

    const ProcessGroup& group() const { return group_; }

    using Handle = std::size_t;
    struct Content {
        std::vector<std::byte> bytes;
        std::vector<double> numbers;
    };

    /// bytes: the root's copy, elsewhere as many of anything.
    virtual Handle broadcast(std::vector<std::byte> bytes, int root) = 0;
    /// Every rank's run of bytes, in rank order; this rank's is in place.
    virtual Handle all_gather(std::vector<std::byte> all, std::span<const std::int64_t> byte_counts) = 0;
    virtual Handle all_reduce(std::vector<double> numbers, ReduceOp op) = 0;
    virtual void send(std::vector<std::byte> bytes, int peer) = 0;
    virtual Handle receive(std::int64_t bytes, int peer) = 0;

    /// Its result; may be taken once.
    virtual Content take(Handle handle) = 0;

protected:
    explicit ControlMessages(ProcessGroup group) : group_(std::move(group)) {}

private:
    ProcessGroup group_;
};

}  // namespace gnnbench
