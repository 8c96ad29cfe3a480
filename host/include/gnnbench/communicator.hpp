#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <gnnbench/kernel.hpp>
#include <gnnbench/transport.hpp>
#include <gnnbench/volume.hpp>

namespace gnnbench {

/// What a rank's communicators have counted since it was last taken; shared by all groups of the rank.
class VolumeCounter {
public:
    void count(CommOp op, Content content, const Traffic& t) { volume_[{op, content}] += t; }
    Volume take() { return std::exchange(volume_, {}); }

private:
    Volume volume_;
};

/// A block of dense rows to or from a peer.
struct RowMessage {
    int peer = 0;
    MatrixView rows;
};

/// What strategies communicate with: device matrices among the ranks of a group, counted by the rules of
/// volume.hpp and timed into the kernel's trace. Each call returns an event; wait for it with Kernel::wait
/// before touching the data. Operations start after what the compute stream has been given so far
/// (`after` narrows that to one event). Matrices must be contiguous.
class Communicator {
public:
    /// `kernel` and `counter` must outlive it.
    Communicator(std::unique_ptr<Transport> transport, Kernel& kernel, VolumeCounter& counter);

    int rank() const { return transport_->rank(); }
    int size() const { return transport_->size(); }
    /// Collective. Ranks of one color, ordered by (key, rank).
    Communicator split(int color, int key) const;

    Event broadcast(MatrixView data, int root, Content content = Content::payload);
    Event reduce(MatrixView data, int root, Content content = Content::payload);
    Event all_reduce(MatrixView data, ReduceOp op = ReduceOp::sum, Content content = Content::payload);
    /// `all` is cut into row blocks of row_counts[i] rows; this rank's is already in place.
    Event all_gather(MatrixView all, std::span<const std::int64_t> row_counts, Content content = Content::payload);
    /// mine [row_counts[rank] × f] ← the sum over ranks of that row block of `all`.
    Event reduce_scatter(ConstMatrixView all, MatrixView mine, std::span<const std::int64_t> row_counts,
                         Content content = Content::payload);
    /// Point to point. Empty messages are left out on both sides. All ranks of the group call it, some perhaps
    /// with nothing to send or receive: waits are told apart by a barrier.
    Event exchange(std::span<const RowMessage> sends, std::span<const RowMessage> receives,
                   Content content = Content::payload);
    /// exchange, with an event for each receive, in order, and a last one for all sends: for who works on what has
    /// arrived while the rest is on its way. Receives are not empty.
    std::vector<Event> exchange_each(std::span<const RowMessage> sends, std::span<const RowMessage> receives,
                                     Content content = Content::payload);
    /// One message per rank on both sides, own ones empty.
    Event all_to_all(std::span<const RowMessage> sends, std::span<const RowMessage> receives,
                     Content content = Content::payload);
    /// Sum of a few float64 scalars on the device (loss, accuracy): metadata.
    Event all_reduce_scalars(double* data, std::int64_t count);

    /// With it, a barrier before each operation makes waiting for a late peer `wait` and not `comm`.
    void separate_wait(bool on) { separate_wait_ = on; }

private:
    Event timed(CommOp op, Content content, const Traffic& t, auto&& start);
    void prepare(CommOp op, Content content, const Traffic& t);
    Trace::SpanId open_span(CommOp op, std::int64_t bytes);
    Event traced(Event event, Trace::SpanId span);
    std::unique_ptr<Transport> transport_;
    Kernel* kernel_;
    VolumeCounter* counter_;
    bool separate_wait_ = false;
};

}  // namespace gnnbench
