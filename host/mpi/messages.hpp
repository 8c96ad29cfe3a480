#pragma once
#include <list>
#include <map>
#include <utility>

#include "check/control_messages.hpp"
#include "mpi/check.hpp"

namespace gnnbench {

class MpiMessages final : public ControlMessages {
public:
    explicit MpiMessages(ProcessGroup group) : ControlMessages(std::move(group)) {}
    /// Waits for messages in flight, except during stack unwinding: then others may never answer.
    ~MpiMessages() override;

    Handle broadcast(std::vector<std::byte> bytes, int root) override;
    Handle all_gather(std::vector<std::byte> all, std::span<const std::int64_t> byte_counts) override;
    Handle all_reduce(std::vector<double> numbers, ReduceOp op) override;
    void send(std::vector<std::byte> bytes, int peer) override;
    Handle receive(std::int64_t bytes, int peer) override;
    Content take(Handle handle) override;

private:
    struct Pending {
        Content content;
        std::vector<int> counts, starts;  ///< which must live as long as the request
        MPI_Request request = MPI_REQUEST_NULL;
    };
    Pending& add(Handle& handle);
    MPI_Comm comm() const { return *static_cast<MPI_Comm*>(group().native()); }

    std::map<Handle, Pending> pending_;
    std::list<Pending> sent_;
    Handle next_ = 1;
};

}  // namespace gnnbench
