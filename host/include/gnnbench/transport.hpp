#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gnnbench/event.hpp>
#include <gnnbench/matrix.hpp>

namespace gnnbench {

/// A set of processes that can talk on the host: control messages, never counted and never timed. Wraps an
/// MPI communicator whose type does not show here.
class ProcessGroup {
public:
    /// All processes of this launch. MPI must have been initialised.
    static ProcessGroup world();
    /// This process alone.
    static ProcessGroup self();
    ProcessGroup(ProcessGroup&&) noexcept;
    ProcessGroup& operator=(ProcessGroup&&) noexcept;
    ~ProcessGroup();

    /// The MPI library's own words: "Open MPI v4.1.4".
    static std::string library();

    int rank() const;
    int size() const;
    /// Ranks with the same color become a group, ordered by (key, rank). Collective.
    ProcessGroup split(int color, int key) const;
    /// The ranks that share this host. Collective.
    ProcessGroup split_by_host() const;

    void barrier() const;
    void broadcast(void* data, std::size_t bytes, int root) const;
    std::vector<double> sum(std::vector<double> values) const;
    std::vector<double> maximum(std::vector<double> values) const;
    /// Every rank's text, in rank order, on the root; empty elsewhere.
    std::vector<std::string> gather(const std::string& text, int root = 0) const;
    /// Every rank's text, in rank order, on every rank.
    std::vector<std::string> all_gather(const std::string& text) const;

    /// The MPI_Comm, for transports: *static_cast<MPI_Comm*>(native()).
    void* native() const;

private:
    struct Impl;
    explicit ProcessGroup(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

/// A message between this rank and `peer`, of contiguous device memory.
struct Message {
    int peer = 0;
    void* data = nullptr;
    std::int64_t bytes = 0;
};

enum class ReduceOp : std::uint8_t { sum, maximum };

/// Moves device memory between ranks. Uncounted and untimed: Communicator does both. One kernel's transport
/// knows that kernel's memory. Every call returns at once where it can; data may be touched again when the event
/// has happened. Calls of one group are matched in order on all its ranks.
class Transport {
public:
    virtual ~Transport();
    virtual int rank() const = 0;
    virtual int size() const = 0;
    virtual std::unique_ptr<Transport> split(int color, int key) const = 0;

    virtual Event broadcast(void* data, std::int64_t bytes, int root) = 0;
    /// In place on the root; the others' data is read only.
    virtual Event reduce(void* data, std::int64_t count, DType dtype, ReduceOp op, int root) = 0;
    virtual Event all_reduce(void* data, std::int64_t count, DType dtype, ReduceOp op) = 0;
    /// Rank i contributes counts[i] bytes, found in place in `all` at the sum of the counts before it.
    virtual Event all_gather(void* all, std::span<const std::int64_t> byte_counts) = 0;
    /// `all` holds every block; rank i receives the sum of block i in `mine`. Counts in elements.
    virtual Event reduce_scatter(const void* all, void* mine, std::span<const std::int64_t> counts,
                                 DType dtype) = 0;
    /// Any set of sends and receives, posted together. Sends to and from one peer are matched in order.
    virtual Event exchange(std::span<const Message> sends, std::span<const Message> receives) = 0;
    /// The same with an event for each receive, in order, and a last one for all sends. By default one event that
    /// tells of everything stands for all of them.
    virtual std::vector<Event> exchange_each(std::span<const Message> sends, std::span<const Message> receives);
    /// sends[j], receives[j]: to and from rank j; empty messages allowed.
    virtual Event all_to_all(std::span<const Message> sends, std::span<const Message> receives) = 0;
    virtual void barrier() = 0;
};

/// The transport for kernels whose device memory is host memory.
std::unique_ptr<Transport> make_mpi_transport(const ProcessGroup& group);

}  // namespace gnnbench
