#pragma once
#include <cstring>
#include <functional>
#include <map>
#include <utility>

#include "check/control_messages.hpp"

namespace gnnbench {

/// Of ranks that share a process. Each rank posts what it brings to all others, who collect it when they take the result.
class MailedMessages final : public ControlMessages {
public:
    /// The group has turns.
    explicit MailedMessages(ProcessGroup group);

    Handle broadcast(std::vector<std::byte> bytes, int root) override;
    Handle all_gather(std::vector<std::byte> all, std::span<const std::int64_t> byte_counts) override;
    Handle all_reduce(std::vector<double> numbers, ReduceOp op) override;
    void send(std::vector<std::byte> bytes, int peer) override;
    Handle receive(std::int64_t bytes, int peer) override;
    Content take(Handle handle) override;

private:
    using Finish = std::function<Content()>;
    Handle add(Finish finish);
    void post_to_others(std::span<const std::byte> bytes, std::uint64_t number);

    Turns& turns_;
    std::map<Handle, Finish> pending_;
    std::map<int, std::uint64_t> sent_, received_;  ///< by peer, how many
    std::uint64_t collectives_ = 0;
    Handle next_ = 1;
};

}  // namespace gnnbench
