#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gnnbench/event.hpp>
#include <gnnbench/matrix.hpp>
#include <gnnbench/process_group.hpp>
#include <gnnbench/trace.hpp>

namespace gnnbench {

/// A message between this rank and `peer`, of contiguous device memory.
struct Message {
    int peer = 0;
    void* data = nullptr;
    std::int64_t bytes = 0;
};

/// Which rows of a matrix, or only how many where memory has no contents.
struct RowNumbers {
    std::int64_t count = 0;
    const std::int32_t* at = nullptr;  ///< [count], host memory; null if only the count is known

    RowNumbers() = default;
    RowNumbers(std::int64_t n, const std::int32_t* first) : count(n), at(first) {}
    RowNumbers(std::span<const std::int32_t> all) : count(std::ssize(all)), at(all.data()) {}
    RowNumbers(const std::vector<std::int32_t>& all) : RowNumbers(std::span(all)) {}
    bool empty() const { return count == 0; }
    std::span<const std::int32_t> listed() const { return {at, usize(count)}; }
};

/// Rows that travel between this rank and `peer`, by their numbers in the matrix of the rank that has them.
struct RowSet {
    int peer = 0;
    RowNumbers rows;
    MatrixView to = {};  ///< where received rows go, one after another; nothing for rows that are sent
};

enum class ReduceOp : std::uint8_t { sum, maximum };

/// When the caller waits for an operation. All ranks of the group must pass the same value.
enum class Wait : std::uint8_t {
    later,    ///< non-blocking: the caller overlaps other work
    at_once,  ///< blocking: the transport may block and return a complete event
};

/// Moves device memory between ranks. It neither counts nor times; Communicator does both. A back end's transport
/// knows that back end's memory. Calls return immediately where possible; data may be touched again once the event
/// is complete. Calls of one group are matched in order on all its ranks.
class Transport {
public:
    virtual ~Transport();
    int rank() const { return do_rank(); }
    int size() const { return do_size(); }
    std::unique_ptr<Transport> split(int color, int key) const { return do_split(color, key); }
    /// Another of the same ranks, for what is not waited for soon: where a device orders operations by streams, its
    /// operations and this one's do not wait for one another. Collective.
    std::unique_ptr<Transport> aside() const { return do_aside(); }
    /// Whose operations this one's are ordered with.
    StreamRole stream() const { return do_stream(); }

    Event broadcast(void* data, std::int64_t bytes, int root, Wait wait) {
        return do_broadcast(data, bytes, root, wait);
    }
    /// In place on the root; the others' data is read only.
    Event reduce(void* data, std::int64_t count, DType dtype, ReduceOp op, int root, Wait wait) {
        return do_reduce(data, count, dtype, op, root, wait);
    }
    Event all_reduce(void* data, std::int64_t count, DType dtype, ReduceOp op, Wait wait) {
        return do_all_reduce(data, count, dtype, op, wait);
    }
    /// Rank i contributes counts[i] bytes, found in place in `all` at the sum of the counts before it.
    Event all_gather(void* all, std::span<const std::int64_t> byte_counts, Wait wait) {
        return do_all_gather(all, byte_counts, wait);
    }
    /// `all` holds every block; rank i receives the sum of block i in `mine`. Counts in elements.
    Event reduce_scatter(const void* all, void* mine, std::span<const std::int64_t> counts, DType dtype,
                         Wait wait) {
        return do_reduce_scatter(all, mine, counts, dtype, wait);
    }
    /// Any set of sends and receives, posted together. Sends to and from one peer are matched in order.
    Event exchange(std::span<const Message> sends, std::span<const Message> receives) {
        return do_exchange(sends, receives);
    }
    /// The same with an event for each receive, in order, and a last one for all sends.
    std::vector<Event> exchange_each(std::span<const Message> sends, std::span<const Message> receives) {
        return do_exchange_each(sends, receives);
    }
    /// sends[j], receives[j]: to and from rank j; empty messages allowed.
    Event all_to_all(std::span<const Message> sends, std::span<const Message> receives) {
        return do_all_to_all(sends, receives);
    }
    /// Whether read_rows may be called: where a rank reads the others' memory in place. The same on all ranks.
    bool reads_rows() const { return do_reads_rows(); }
    /// Rows of matrices that lie elsewhere: `from` is this rank's, whose rows `sends` others read, and each of
    /// `receives` takes its rows from its peer's `from`. One copy, where messages take packing, a copy, and often
    /// unpacking. An event for each receive, in order, and a last one: all others have read `from`. No set is empty.
    std::vector<Event> read_rows(ConstMatrixView from, std::span<const RowSet> sends,
                                 std::span<const RowSet> receives) {
        return do_read_rows(from, sends, receives);
    }
    /// The return of what was computed for rows of others, where reads_rows(): to[rows[i]] += row i of what the peer
    /// sends this rank, for each of `receives` (whose own `to` is not used) in their order. `sends` are contiguous rows
    /// of to's width. `to` must not be in use: rows are added as soon as all have arrived.
    Event add_rows(MatrixView to, std::span<const Message> sends, std::span<const RowSet> receives) {
        return do_add_rows(to, sends, receives);
    }
    void barrier() { do_barrier(); }

private:
    virtual int do_rank() const = 0;
    virtual int do_size() const = 0;
    virtual std::unique_ptr<Transport> do_split(int color, int key) const = 0;
    virtual std::unique_ptr<Transport> do_aside() const { return do_split(0, do_rank()); }
    virtual StreamRole do_stream() const { return StreamRole::communication; }
    // A transport whose calls all return immediately ignores `wait`.
    virtual Event do_broadcast(void* data, std::int64_t bytes, int root, Wait wait) = 0;
    virtual Event do_reduce(void* data, std::int64_t count, DType dtype, ReduceOp op, int root, Wait wait) = 0;
    virtual Event do_all_reduce(void* data, std::int64_t count, DType dtype, ReduceOp op, Wait wait) = 0;
    virtual Event do_all_gather(void* all, std::span<const std::int64_t> byte_counts, Wait wait) = 0;
    virtual Event do_reduce_scatter(const void* all, void* mine, std::span<const std::int64_t> counts, DType dtype,
                                    Wait wait) = 0;
    virtual Event do_exchange(std::span<const Message> sends, std::span<const Message> receives) = 0;
    /// By default, copies of one event that is complete when all transfers are.
    virtual std::vector<Event> do_exchange_each(std::span<const Message> sends, std::span<const Message> receives);
    virtual Event do_all_to_all(std::span<const Message> sends, std::span<const Message> receives) = 0;
    virtual bool do_reads_rows() const { return false; }
    virtual std::vector<Event> do_read_rows(ConstMatrixView from, std::span<const RowSet> sends,
                                            std::span<const RowSet> receives);
    virtual Event do_add_rows(MatrixView to, std::span<const Message> sends, std::span<const RowSet> receives);
    virtual void do_barrier() = 0;
};

/// Complete when all of them are; waits for them in order.
Event all_of(std::vector<Event> events);

/// The transport for back ends whose device memory is host memory: the group's own, by MPI where ranks are processes.
/// Collective.
std::unique_ptr<Transport> make_mpi_transport(const ProcessGroup& group);

}  // namespace gnnbench
