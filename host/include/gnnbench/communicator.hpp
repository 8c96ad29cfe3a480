#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <gnnbench/backend.hpp>
#include <gnnbench/transport.hpp>
#include <gnnbench/volume.hpp>

namespace gnnbench {

/// What a rank's communicators have counted since the last take(); shared by all groups of the rank.
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
/// volume.hpp and timed into the back end's trace. Operations start after all work that the compute stream has been
/// given so far. Matrices must be contiguous.
///
/// Each operation has two forms. `all_reduce` starts it and returns an event: do other work, then wait with
/// Backend::wait before touching the data. `all_reduce_now` is the blocking form, for when there is nothing to overlap:
/// the compute stream's next verb sees the data. It is often faster under MPI. All ranks must use the same form.
class Communicator {
public:
    /// `backend` and `counter` must outlive it.
    Communicator(std::unique_ptr<Transport> transport, Backend& backend, VolumeCounter& counter);

    int rank() const { return transport_->rank(); }
    int size() const { return transport_->size(); }
    /// Collective. Ranks of one color, ordered by (key, rank).
    Communicator split(int color, int key) const;
    /// Collective. The same ranks, for what is not waited for soon (Transport::aside).
    Communicator aside() const { return sharing(transport_->aside()); }

    Event broadcast(MatrixView data, int root, Content content = Content::payload) {
        return broadcast(data, root, content, Wait::later);
    }
    void broadcast_now(MatrixView data, int root, Content content = Content::payload) {
        wait(broadcast(data, root, content, Wait::at_once));
    }
    Event reduce(MatrixView data, int root, Content content = Content::payload) {
        return reduce(data, root, content, Wait::later);
    }
    void reduce_now(MatrixView data, int root, Content content = Content::payload) {
        wait(reduce(data, root, content, Wait::at_once));
    }
    Event all_reduce(MatrixView data, ReduceOp op = ReduceOp::sum, Content content = Content::payload) {
        return all_reduce(data, op, content, Wait::later);
    }
    void all_reduce_now(MatrixView data, ReduceOp op = ReduceOp::sum, Content content = Content::payload) {
        wait(all_reduce(data, op, content, Wait::at_once));
    }
    /// `all` is cut into row blocks of row_counts[i] rows; this rank's is already in place.
    Event all_gather(MatrixView all, std::span<const std::int64_t> row_counts,
                     Content content = Content::payload) {
        return all_gather(all, row_counts, content, Wait::later);
    }
    void all_gather_now(MatrixView all, std::span<const std::int64_t> row_counts,
                        Content content = Content::payload) {
        wait(all_gather(all, row_counts, content, Wait::at_once));
    }
    /// mine [row_counts[rank] × f] ← the sum over ranks of that row block of `all`.
    Event reduce_scatter(ConstMatrixView all, MatrixView mine, std::span<const std::int64_t> row_counts,
                         Content content = Content::payload) {
        return reduce_scatter(all, mine, row_counts, content, Wait::later);
    }
    void reduce_scatter_now(ConstMatrixView all, MatrixView mine, std::span<const std::int64_t> row_counts,
                            Content content = Content::payload) {
        wait(reduce_scatter(all, mine, row_counts, content, Wait::at_once));
    }
    /// Point to point. Empty messages are left out on both sides. Collective even for ranks without messages,
    /// because `separate_wait` adds a barrier.
    Event exchange(std::span<const RowMessage> sends, std::span<const RowMessage> receives,
                   Content content = Content::payload);
    void exchange_now(std::span<const RowMessage> sends, std::span<const RowMessage> receives,
                      Content content = Content::payload) {
        wait(exchange(sends, receives, content));
    }
    /// exchange, with an event for each receive, in order, and a last one for all sends, so that the caller can work on
    /// what has arrived while the rest is in flight. Receives must not be empty.
    std::vector<Event> exchange_each(std::span<const RowMessage> sends, std::span<const RowMessage> receives,
                                     Content content = Content::payload);
    /// One message per rank on both sides; those to and from this rank are empty.
    Event all_to_all(std::span<const RowMessage> sends, std::span<const RowMessage> receives,
                     Content content = Content::payload);
    void all_to_all_now(std::span<const RowMessage> sends, std::span<const RowMessage> receives,
                        Content content = Content::payload) {
        wait(all_to_all(sends, receives, content));
    }
    /// Whether rows can be read where they lie; else they are packed and sent. The same on all ranks.
    bool reads_rows() const { return transport_->reads_rows(); }
    /// Each of `receives` takes its rows from its peer's `from`, which others must not find changed before the last
    /// event. Counted as `op`'s messages of these rows: point_to_point with an event for each receive and a last one
    /// for what others read, as exchange_each; all_to_all with one event for all. Empty sets are left out on both
    /// sides, but for point_to_point none of `receives` is empty.
    std::vector<Event> read_rows(CommOp op, ConstMatrixView from, std::span<const RowSet> sends,
                                 std::span<const RowSet> receives, Content content = Content::payload);
    /// to[rows[i]] += row i of what the peer sends, for each of `receives` in their order, where reads_rows(). Counted as
    /// an all-to-all of these messages. Empty ones are left out on both sides.
    Event add_rows(MatrixView to, std::span<const RowMessage> sends, std::span<const RowSet> receives,
                   Content content = Content::payload);
    /// Sum of a few float64 scalars on the device (loss, accuracy): metadata.
    Event all_reduce_scalars(double* data, std::int64_t count) {
        return all_reduce(scalars(data, count), ReduceOp::sum, Content::metadata);
    }
    void all_reduce_scalars_now(double* data, std::int64_t count) {
        all_reduce_now(scalars(data, count), ReduceOp::sum, Content::metadata);
    }

    /// Counts what a rank moves by other means, such as the words it shares with others.
    void count(CommOp op, Content content, const Traffic& t) { counter_->count(op, content, t); }

    /// If on, a barrier before each operation accounts the time waiting for late peers as `wait`, not as `comm`.
    void separate_wait(bool on) { separate_wait_ = on; }

private:
    Communicator sharing(std::unique_ptr<Transport> transport) const;
    static MatrixView scalars(double* data, std::int64_t count) { return {data, 1, count, count, DType::f64}; }
    Event broadcast(MatrixView data, int root, Content content, Wait when);
    Event reduce(MatrixView data, int root, Content content, Wait when);
    Event all_reduce(MatrixView data, ReduceOp op, Content content, Wait when);
    Event all_gather(MatrixView all, std::span<const std::int64_t> row_counts, Content content, Wait when);
    Event reduce_scatter(ConstMatrixView all, MatrixView mine, std::span<const std::int64_t> row_counts,
                         Content content, Wait when);
    void wait(const Event& event) { backend_->wait(StreamRole::compute, event); }
    std::vector<Event> each_timed(CommOp op, Content content, const Traffic& t,
                                  std::span<const std::int64_t> bytes, auto&& start);
    Event timed(CommOp op, Content content, const Traffic& t, auto&& start);
    void prepare(CommOp op, Content content, const Traffic& t);
    Trace::SpanId open_span(CommOp op, std::int64_t bytes);
    Event traced(Event event, Trace::SpanId span);
    std::unique_ptr<Transport> transport_;
    Backend* backend_;
    VolumeCounter* counter_;
    bool separate_wait_ = false;
};

}  // namespace gnnbench
