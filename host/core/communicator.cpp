#include <gnnbench/communicator.hpp>

#include <numeric>
#include <utility>

#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

/// An event that only the host can complete, with its span still open: closed when the wait returns.
class TracedEvent final : public EventState {
public:
    TracedEvent(Event inner, Trace& trace, Trace::SpanId span)
        : inner_(std::move(inner)), trace_(trace), span_(span) {}
    void wait_on_host() override {
        if (done_) return;
        inner_.state()->wait_on_host();
        done_ = true;
        trace_.close(span_);
    }
    bool ready() override { return done_ || inner_.ready(); }
    bool completed_by_host() const override { return true; }

private:
    Event inner_;
    Trace& trace_;
    Trace::SpanId span_;
    bool done_ = false;
};

std::int64_t element_bytes(ConstMatrixView m) { return static_cast<std::int64_t>(size_of(m.dtype)); }
std::int64_t bytes_of(ConstMatrixView m) { return static_cast<std::int64_t>(m.bytes()); }

void check_contiguous(ConstMatrixView m) { require(m.contiguous(), "a communicated matrix must be contiguous"); }

std::vector<Message> messages(std::span<const RowMessage> rows) {
    std::vector<Message> out;
    for (const RowMessage& r : rows) {
        check_contiguous(r.rows);
        if (!r.rows.empty()) out.push_back({r.peer, r.rows.data, bytes_of(r.rows)});
    }
    return out;
}

Traffic traffic(std::span<const Message> sends, std::span<const Message> receives) {
    Traffic t;
    for (const Message& m : sends) t += {m.bytes, 0, 1};
    for (const Message& m : receives) t += {0, m.bytes, 0};
    return t;
}

}  // namespace

Communicator::Communicator(std::unique_ptr<Transport> transport, Backend& backend, VolumeCounter& counter)
    : transport_(std::move(transport)), backend_(&backend), counter_(&counter) {}

Communicator Communicator::sharing(std::unique_ptr<Transport> transport) const {
    Communicator other(std::move(transport), *backend_, *counter_);
    other.separate_wait_ = separate_wait_;
    return other;
}

Communicator Communicator::split(int color, int key) const { return sharing(transport_->split(color, key)); }

/// Counts an operation, waits for late peers if requested, and for the compute stream's pending work.
void Communicator::prepare(CommOp op, Content content, const Traffic& t) {
    counter_->count(op, content, t);
    if (separate_wait_ && size() > 1) {
        Trace& trace = backend_->trace();
        const auto span = trace.open({.phase = Phase::wait, .operation = "barrier", .group_size = size()});
        transport_->barrier();
        trace.close(span);
    }
    backend_->wait(transport_->stream(), backend_->record(StreamRole::compute));
}

Trace::SpanId Communicator::open_span(CommOp op, std::int64_t bytes) {
    return backend_->trace().open({.phase = Phase::comm,
                                   .stream = transport_->stream(),
                                   // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): names are literals
                                   .operation = comm_op_names[usize(op)].data(),
                                   .bytes = bytes,
                                   .group_size = size()});
}

/// The event that also closes the span, if only the host can complete it; else the span ends here.
Event Communicator::traced(Event event, Trace::SpanId span) {
    if (!event.happened_at_once() && event.state()->completed_by_host())
        return Event(std::make_shared<TracedEvent>(std::move(event), backend_->trace(), span));
    backend_->trace().close(span);
    return event;
}

/// Prepares, times and starts one operation.
Event Communicator::timed(CommOp op, Content content, const Traffic& t, auto&& start) {
    prepare(op, content, t);
    const auto span = open_span(op, t.sent_bytes + t.received_bytes);
    return traced(start(), span);
}

Event Communicator::broadcast(MatrixView data, int root, Content content, Wait when) {
    check_contiguous(data);
    if (size() == 1 || data.empty()) return {};
    const std::int64_t x = bytes_of(data);
    return timed(CommOp::broadcast, content, counting::broadcast(x, size(), rank() == root),
                 [&] { return transport_->broadcast(data.data, x, root, when); });
}

Event Communicator::reduce(MatrixView data, int root, Content content, Wait when) {
    check_contiguous(data);
    if (size() == 1 || data.empty()) return {};
    return timed(CommOp::reduce, content, counting::reduce(bytes_of(data), size(), rank() == root), [&] {
        return transport_->reduce(data.data, data.rows * data.cols, data.dtype, ReduceOp::sum, root, when);
    });
}

Event Communicator::all_reduce(MatrixView data, ReduceOp op, Content content, Wait when) {
    check_contiguous(data);
    if (size() == 1 || data.empty()) return {};
    const std::int64_t count = data.rows * data.cols;
    const std::int64_t mine = counting::even_block_bytes(count, element_bytes(data), size(), rank());
    return timed(CommOp::all_reduce, content, counting::all_reduce(bytes_of(data), mine, size()),
                 [&] { return transport_->all_reduce(data.data, count, data.dtype, op, when); });
}

Event Communicator::all_gather(MatrixView all, std::span<const std::int64_t> row_counts, Content content,
                               Wait when) {
    check_contiguous(all);
    require(std::ssize(row_counts) == size() && std::reduce(row_counts.begin(), row_counts.end()) == all.rows,
            "all_gather: one row count per rank, adding up to the matrix's rows");
    if (size() == 1 || all.empty()) return {};
    std::vector<std::int64_t> bytes;
    for (const std::int64_t rows : row_counts) bytes.push_back(rows * all.cols * element_bytes(all));
    const std::int64_t mine = bytes[usize(rank())];
    return timed(CommOp::all_gather, content, counting::all_gather(bytes_of(all), mine, size()),
                 [&] { return transport_->all_gather(all.data, bytes, when); });
}

Event Communicator::reduce_scatter(ConstMatrixView all, MatrixView mine, std::span<const std::int64_t> row_counts,
                                   Content content, Wait when) {
    check_contiguous(all);
    check_contiguous(mine);
    require(std::ssize(row_counts) == size() && std::reduce(row_counts.begin(), row_counts.end()) == all.rows &&
                mine.rows == row_counts[usize(rank())] && mine.cols == all.cols,
            "reduce_scatter: one row count per rank, adding up to the matrix's rows");
    if (all.empty()) return {};
    if (size() == 1) {
        backend_->copy(all, mine);
        return {};
    }
    std::vector<std::int64_t> counts;
    for (const std::int64_t rows : row_counts) counts.push_back(rows * all.cols);
    return timed(CommOp::reduce_scatter, content, counting::reduce_scatter(bytes_of(all), bytes_of(mine), size()),
                 [&] { return transport_->reduce_scatter(all.data, mine.data, counts, all.dtype, when); });
}

Event Communicator::exchange(std::span<const RowMessage> sends, std::span<const RowMessage> receives,
                             Content content) {
    const auto out = messages(sends), in = messages(receives);
    if (out.empty() && in.empty() && !separate_wait_) return {};
    return timed(CommOp::point_to_point, content, traffic(out, in), [&] { return transport_->exchange(out, in); });
}

/// As timed, with an event and a span of so many bytes for each of several parts of an operation.
std::vector<Event> Communicator::each_timed(CommOp op, Content content, const Traffic& t,
                                            std::span<const std::int64_t> bytes, auto&& start) {
    prepare(op, content, t);
    std::vector<Trace::SpanId> spans;
    for (const std::int64_t b : bytes) spans.push_back(open_span(op, b));
    std::vector<Event> events = start();
    for (std::size_t i = 0; i < events.size(); ++i) events[i] = traced(std::move(events[i]), spans[i]);
    return events;
}

std::vector<Event> Communicator::exchange_each(std::span<const RowMessage> sends,
                                               std::span<const RowMessage> receives, Content content) {
    const auto out = messages(sends), in = messages(receives);
    require(in.size() == receives.size(), "exchange_each: an empty receive would have no event");
    if (out.empty() && in.empty() && !separate_wait_) return {Event()};
    const Traffic t = traffic(out, in);
    std::vector<std::int64_t> bytes;
    for (const Message& m : in) bytes.push_back(m.bytes);
    bytes.push_back(t.sent_bytes);
    return each_timed(CommOp::point_to_point, content, t, bytes,
                      [&] { return transport_->exchange_each(out, in); });
}

std::vector<Event> Communicator::read_rows(CommOp op, ConstMatrixView from, std::span<const RowSet> sends,
                                           std::span<const RowSet> receives, Content content) {
    const std::int64_t row_bytes = from.cols * element_bytes(from);
    std::vector<RowSet> out, in;
    Traffic t;
    std::vector<std::int64_t> bytes;
    for (const RowSet& s : sends) {
        if (s.rows.empty()) continue;
        out.push_back(s);
        t += {s.rows.count * row_bytes, 0, 1};
    }
    for (const RowSet& s : receives) {
        if (s.rows.empty()) continue;
        require(s.to.rows == s.rows.count && s.to.cols == from.cols && s.to.dtype == from.dtype,
                "read_rows: a place of each row's width for every row");
        in.push_back(s);
        bytes.push_back(s.rows.count * row_bytes);
        t += {0, bytes.back(), 0};
    }
    if (op == CommOp::all_to_all)
        return {timed(op, content, t, [&] { return all_of(transport_->read_rows(from, out, in)); })};
    require(op == CommOp::point_to_point && in.size() == receives.size(),
            "read_rows: all_to_all, or point_to_point without empty receives");
    if (out.empty() && in.empty() && !separate_wait_) return {Event()};
    bytes.push_back(t.sent_bytes);
    return each_timed(op, content, t, bytes, [&] { return transport_->read_rows(from, out, in); });
}

Event Communicator::add_rows(MatrixView to, std::span<const RowMessage> sends, std::span<const RowSet> receives,
                             Content content) {
    const auto out = messages(sends);
    std::vector<RowSet> in;
    Traffic t = traffic(out, {});
    for (const RowSet& s : receives) {
        if (s.rows.empty()) continue;
        in.push_back(s);
        t += {0, s.rows.count * to.cols * element_bytes(to), 0};
    }
    return timed(CommOp::all_to_all, content, t, [&] { return transport_->add_rows(to, out, in); });
}

Event Communicator::all_to_all(std::span<const RowMessage> sends, std::span<const RowMessage> receives,
                               Content content) {
    const auto out = messages(sends), in = messages(receives);
    for (const auto* side : {&out, &in})
        for (const Message& m : *side) require(m.peer != rank(), "all_to_all: a rank's own block must be empty");
    return timed(CommOp::all_to_all, content, traffic(out, in), [&] { return transport_->all_to_all(out, in); });
}

}  // namespace gnnbench
