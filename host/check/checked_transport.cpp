#include "check/checked_transport.hpp"

#include <cmath>
#include <cstring>
#include <numeric>

#include <fmt/format.h>

#include <gnnbench/usize.hpp>

#include "check/bounds.hpp"
#include "check/control_messages.hpp"
#include "check/host_copy.hpp"

namespace gnnbench {
namespace {

std::vector<std::byte> read_bytes(Backend& backend, const void* data, std::int64_t bytes, StreamRole stream) {
    return read_array(backend, static_cast<const std::byte*>(data), bytes, stream);
}

/// Bytes as numbers of a type, where that many make whole numbers.
double number_at(const std::vector<std::byte>& bytes, std::size_t at, DType t) {
    if (t == DType::f64 && at + 8 <= bytes.size()) {
        double x = 0;
        std::memcpy(&x, bytes.data() + at, sizeof x);
        return x;
    }
    float x = 0;
    std::memcpy(&x, bytes.data() + at, std::min(sizeof x, bytes.size() - at));
    return static_cast<double>(x);
}

/// x, then |x| behind it where a sum needs the bound.
std::vector<double> terms_of(std::vector<double> x, ReduceOp op) {
    if (op == ReduceOp::maximum) return x;
    const std::size_t n = x.size();
    x.resize(2 * n);
    for (std::size_t i = 0; i < n; ++i) x[n + i] = std::abs(x[i]);
    return x;
}

std::int64_t total(std::span<const std::int64_t> counts) { return std::reduce(counts.begin(), counts.end()); }

}  // namespace

void CheckedEvent::judge(StreamRole stream) {
    if (std::exchange(done_, true)) return;
    judge_(stream);
    judge_ = nullptr;
}

void CheckedEvent::wait_on_host() {
    if (done_) return;
    if (!inner_.happened_at_once()) inner_.state()->wait_on_host();
    judge(StreamRole::communication);
}

CheckedTransport::CheckedTransport(std::unique_ptr<Transport> under_test, ProcessGroup control, Backend& backend,
                                   std::shared_ptr<Ledger> ledger, std::shared_ptr<InFlight> in_flight)
    : ForwardingTransport(std::move(under_test)),
      control_(ControlMessages::between(std::move(control))),
      backend_(backend),
      ledger_(std::move(ledger)),
      in_flight_(std::move(in_flight)) {}
CheckedTransport::~CheckedTransport() = default;

std::unique_ptr<Transport> CheckedTransport::do_split(int color, int key) const {
    return std::make_unique<CheckedTransport>(inner().split(color, key), control_->group().split(color, key),
                                              backend_, ledger_, in_flight_);
}

std::unique_ptr<Transport> CheckedTransport::do_aside() const {
    const ProcessGroup& group = control_->group();
    return std::make_unique<CheckedTransport>(inner().aside(), group.split(0, group.rank()), backend_, ledger_,
                                              in_flight_);
}

Event CheckedTransport::judged(Event event, CheckedEvent::Judge judge) const {
    if (event.happened_at_once()) {
        judge(stream());
        return event;
    }
    return Event(std::make_shared<CheckedEvent>(std::move(event), std::move(judge)));
}

CheckedEvent::Judge CheckedTransport::same_bytes(const char* operation, const void* data, std::int64_t bytes,
                                                 std::size_t expected, InFlight::Id id) const {
    return
        [=, control = control_, ledger = ledger_, in_flight = in_flight_, &backend = backend_](StreamRole stream) {
            in_flight->end(id);
            const auto found = read_bytes(backend, data, bytes, stream);
            const auto sent = control->take(expected).bytes;
            const DType t = backend.dtype();
            const std::size_t step = bytes % static_cast<std::int64_t>(size_of(t)) == 0 ? size_of(t) : 4;
            Judgement j(*ledger, operation, fmt::format("of {} bytes", bytes));
            for (std::size_t at = 0; at < found.size(); at += step) {
                const std::size_t n = std::min(step, found.size() - at);
                const bool equal = std::memcmp(found.data() + at, sent.data() + at, n) == 0;
                j.compare_bits(static_cast<std::int64_t>(at / step), 0, equal, equal ? 0 : number_at(found, at, t),
                               equal ? 0 : number_at(sent, at, t));
            }
        };
}

CheckedEvent::Judge CheckedTransport::reduced(const char* operation, const Reduction& reduction,
                                              InFlight::Id id) const {
    return [operation, reduction, id, control = control_, ledger = ledger_, in_flight = in_flight_,
            ranks = inner().size(), &backend = backend_](StreamRole stream) {
        const auto [data, count, dtype, op, sums, first] = reduction;
        in_flight->end(id);
        const auto found = read_numbers(backend, data, count, dtype, stream);
        const auto whole = control->take(sums).numbers;
        const Rounding rounding = rounding_of(dtype);
        Judgement j(*ledger, operation, fmt::format("of {} elements over {} ranks", count, ranks));
        for (std::int64_t i = 0; i < count; ++i) {
            const auto at = usize(first + i);
            if (op == ReduceOp::maximum) {
                j.same(i, 0, found[usize(i)], whole[at]);
                continue;
            }
            j.near(i, 0, found[usize(i)], whole[at],
                   rounding.gamma(ranks - 1) * whole[whole.size() / 2 + at] + ranks * rounding.smallest);
        }
    };
}

Event CheckedTransport::do_broadcast(void* data, std::int64_t bytes, int root, Wait wait) {
    const bool sends = inner().rank() == root;
    in_flight_->check_access("broadcast", data, bytes, !sends);
    auto copy = sends ? read_bytes(backend_, data, bytes, stream()) : std::vector<std::byte>(usize(bytes));
    const auto expected = control_->broadcast(std::move(copy), root);
    const auto id = in_flight_->begin("broadcast", data, bytes, !sends);
    return judged(inner().broadcast(data, bytes, root, wait), same_bytes("broadcast", data, bytes, expected, id));
}

Event CheckedTransport::do_all_reduce(void* data, std::int64_t count, DType dtype, ReduceOp op, Wait wait) {
    const std::int64_t bytes = count * static_cast<std::int64_t>(size_of(dtype));
    in_flight_->check_access("all-reduce", data, bytes, true);
    const auto sums = control_->all_reduce(terms_of(read_numbers(backend_, data, count, dtype, stream()), op), op);
    const auto id = in_flight_->begin("all-reduce", data, bytes, true);
    return judged(inner().all_reduce(data, count, dtype, op, wait),
                  reduced("all-reduce", {data, count, dtype, op, sums}, id));
}

Event CheckedTransport::do_reduce(void* data, std::int64_t count, DType dtype, ReduceOp op, int root, Wait wait) {
    const std::int64_t bytes = count * static_cast<std::int64_t>(size_of(dtype));
    const bool receives = inner().rank() == root;
    in_flight_->check_access("reduce", data, bytes, receives);
    const auto sums = control_->all_reduce(terms_of(read_numbers(backend_, data, count, dtype, stream()), op), op);
    const auto id = in_flight_->begin("reduce", data, bytes, receives);
    Event event = inner().reduce(data, count, dtype, op, root, wait);
    if (receives) return judged(std::move(event), reduced("reduce", {data, count, dtype, op, sums}, id));
    return judged(std::move(event), [control = control_, in_flight = in_flight_, sums, id](StreamRole) {
        in_flight->end(id);
        control->take(sums);
    });
}

Event CheckedTransport::do_all_gather(void* all, std::span<const std::int64_t> byte_counts, Wait wait) {
    const std::int64_t bytes = total(byte_counts);
    in_flight_->check_access("all-gather", all, bytes, true);
    const auto expected = control_->all_gather(read_bytes(backend_, all, bytes, stream()), byte_counts);
    const auto id = in_flight_->begin("all-gather", all, bytes, true);
    return judged(inner().all_gather(all, byte_counts, wait), same_bytes("all-gather", all, bytes, expected, id));
}

Event CheckedTransport::do_reduce_scatter(const void* all, void* mine, std::span<const std::int64_t> counts,
                                          DType dtype, Wait wait) {
    const auto size = static_cast<std::int64_t>(size_of(dtype));
    const auto rank = usize(inner().rank());
    in_flight_->check_access("reduce-scatter", all, total(counts) * size, false);
    in_flight_->check_access("reduce-scatter", mine, counts[rank] * size, true);
    const auto sums = control_->all_reduce(
        terms_of(read_numbers(backend_, all, total(counts), dtype, stream()), ReduceOp::sum), ReduceOp::sum);
    const auto read = in_flight_->begin("reduce-scatter", all, total(counts) * size, false);
    const auto written = in_flight_->begin("reduce-scatter", mine, counts[rank] * size, true);
    auto judge = reduced("reduce-scatter",
                         {mine, counts[rank], dtype, ReduceOp::sum, sums, total(counts.first(rank))}, written);
    return judged(inner().reduce_scatter(all, mine, counts, dtype, wait),
                  [judge = std::move(judge), in_flight = in_flight_, read](StreamRole stream) {
                      in_flight->end(read);
                      judge(stream);
                  });
}

void CheckedTransport::send_copies(const char* operation, std::span<const Message> sends) {
    for (const Message& m : sends) {
        if (m.bytes == 0) continue;
        in_flight_->check_access(operation, m.data, m.bytes, false);
        control_->send(read_bytes(backend_, m.data, m.bytes, stream()), m.peer);
    }
}

std::vector<CheckedEvent::Judge> CheckedTransport::receive_copies(const char* operation,
                                                                  std::span<const Message> receives) {
    std::vector<CheckedEvent::Judge> judges;
    for (const Message& m : receives) {
        if (m.bytes == 0) {
            judges.emplace_back([](StreamRole) {});
            continue;
        }
        in_flight_->check_access(operation, m.data, m.bytes, true);
        const auto expected = control_->receive(m.bytes, m.peer);
        const auto id = in_flight_->begin(operation, m.data, m.bytes, true);
        judges.push_back(same_bytes(operation, m.data, m.bytes, expected, id));
    }
    return judges;
}

CheckedEvent::Judge CheckedTransport::sends_end(const char* operation, std::span<const Message> sends) {
    std::vector<InFlight::Id> ids;
    for (const Message& m : sends)
        if (m.bytes > 0) ids.push_back(in_flight_->begin(operation, m.data, m.bytes, false));
    return [ids = std::move(ids), in_flight = in_flight_](StreamRole) {
        for (const auto id : ids) in_flight->end(id);
    };
}

Event CheckedTransport::do_exchange(std::span<const Message> sends, std::span<const Message> receives) {
    send_copies("exchange", sends);
    auto judges = receive_copies("exchange", receives);
    judges.push_back(sends_end("exchange", sends));
    return judged(inner().exchange(sends, receives), [judges = std::move(judges)](StreamRole stream) {
        for (const auto& judge : judges) judge(stream);
    });
}

std::vector<Event> CheckedTransport::do_exchange_each(std::span<const Message> sends,
                                                      std::span<const Message> receives) {
    send_copies("exchange", sends);
    auto judges = receive_copies("exchange", receives);
    judges.push_back(sends_end("exchange", sends));
    std::vector<Event> events = inner().exchange_each(sends, receives);
    for (std::size_t i = 0; i < events.size(); ++i) events[i] = judged(std::move(events[i]), std::move(judges[i]));
    return events;
}

Event CheckedTransport::do_all_to_all(std::span<const Message> sends, std::span<const Message> receives) {
    send_copies("all-to-all", sends);
    auto judges = receive_copies("all-to-all", receives);
    judges.push_back(sends_end("all-to-all", sends));
    return judged(inner().all_to_all(sends, receives), [judges = std::move(judges)](StreamRole stream) {
        for (const auto& judge : judges) judge(stream);
    });
}

/// What others read are rows of `from`, so all of it must stay as it is; they are compared with copies that are sent.
std::vector<Event> CheckedTransport::do_read_rows(ConstMatrixView from, std::span<const RowSet> sends,
                                                  std::span<const RowSet> receives) {
    const std::size_t row_bytes = usize(from.cols) * size_of(from.dtype),
                      step = usize(from.ld) * size_of(from.dtype);
    std::vector<Message> read;
    for (const RowSet& s : sends) {
        const auto all = read_bytes(
            backend_, from.data, static_cast<std::int64_t>(usize(from.rows) * step - step + row_bytes), stream());
        const std::span<const std::int32_t> numbers = s.rows.listed();
        std::vector<std::byte> rows(numbers.size() * row_bytes);
        for (std::size_t i = 0; i < numbers.size(); ++i)
            std::memcpy(rows.data() + i * row_bytes, all.data() + usize(numbers[i]) * step, row_bytes);
        control_->send(std::move(rows), s.peer);
        read.push_back({s.peer, const_cast<void*>(from.data), std::ssize(all)});
    }
    if (!read.empty()) in_flight_->check_access("reading of rows", from, false);
    std::vector<Message> written;
    for (const RowSet& r : receives)
        written.push_back({r.peer, r.to.data, r.rows.count * static_cast<std::int64_t>(row_bytes)});
    auto judges = receive_copies("reading of rows", written);
    judges.push_back(sends_end("reading of rows", std::span(read).first(std::min<std::size_t>(read.size(), 1))));
    std::vector<Event> events = inner().read_rows(from, sends, receives);
    for (std::size_t i = 0; i < events.size(); ++i) events[i] = judged(std::move(events[i]), std::move(judges[i]));
    return events;
}

/// Each element is expected within rounding of what it was and what the senders' copies add to it.
Event CheckedTransport::do_add_rows(MatrixView to, std::span<const Message> sends,
                                    std::span<const RowSet> receives) {
    const auto element = static_cast<std::int64_t>(size_of(to.dtype));
    const std::int64_t span = to.empty() ? 0 : ((to.rows - 1) * to.ld + to.cols) * element;
    send_copies("adding of rows", sends);
    if (!receives.empty()) in_flight_->check_access("adding of rows", to, true);
    HostMatrix sums = read_view(backend_, to, stream()), sizes = sums;
    for (double& x : sizes.values) x = std::abs(x);
    std::vector<std::pair<RowSet, std::size_t>> expected;
    for (const RowSet& r : receives)
        expected.emplace_back(r, control_->receive(r.rows.count * to.cols * element, r.peer));
    const auto ended = sends_end("adding of rows", sends);
    const auto id = in_flight_->begin("adding of rows", to.data, receives.empty() ? 0 : span, true);
    return judged(inner().add_rows(to, sends, receives), [=, control = control_, ledger = ledger_,
                                                          in_flight = in_flight_, &backend = backend_,
                                                          ranks = inner().size()](StreamRole stream) mutable {
        ended(stream);
        in_flight->end(id);
        for (const auto& [set, handle] : expected) {
            const auto sent = control->take(handle).bytes;
            for (std::size_t i = 0; i < usize(set.rows.count); ++i)
                for (std::int64_t c = 0; c < to.cols; ++c) {
                    const double x =
                        number_at(sent, (i * usize(to.cols) + usize(c)) * size_of(to.dtype), to.dtype);
                    const std::size_t at = usize(set.rows.at[i]) * usize(to.cols) + usize(c);
                    sums.values[at] += x;
                    sizes.values[at] += std::abs(x);
                }
        }
        if (expected.empty()) return;
        const HostMatrix found = read_view(backend, to, stream);
        const Rounding rounding = rounding_of(to.dtype);
        Judgement j(*ledger, "adding of rows", fmt::format("to {} x {}", to.rows, to.cols));
        for (std::size_t at = 0; at < found.values.size(); ++at)
            j.near(static_cast<std::int64_t>(at) / to.cols, static_cast<std::int64_t>(at) % to.cols,
                   found.values[at], sums.values[at],
                   rounding.gamma(ranks - 1) * sizes.values[at] + ranks * rounding.smallest);
    });
}

}  // namespace gnnbench
