#include "faults/faulty_transport.hpp"

#include <cmath>

#include "check/bounds.hpp"
#include "check/host_copy.hpp"
#include "worker/verify/verification.hpp"

namespace gnnbench::faults {

namespace {

/// Whether what others own is lost now.
bool loses_halo(Fault fault) {
    const auto [epoch, evaluates] = progress();
    switch (fault) {
        case Fault::score_without_halo:  // the trainer says so only of the pass that it scores
        case Fault::logits_without_halo:
            return evaluates;
        case Fault::late_halo:
            return !evaluates && epoch >= late_epoch;
        case Fault::late_evaluation:
            return evaluates && epoch >= late_epoch;
        default:
            return false;
    }
}

}  // namespace

Event FaultyTransport::do_broadcast(void* data, std::int64_t bytes, int root, Wait wait) {
    Event event = inner().broadcast(data, bytes, root, wait);
    if (loses_halo(injected_.fault) && inner().rank() != root) {
        backend_.wait(StreamRole::communication, event);
        const std::vector<std::byte> nothing(static_cast<std::size_t>(bytes));
        backend_.upload_bytes(nothing.data(), data, nothing.size());
        return {};
    }
    if (injected_.fault != Fault::message_of_epoch_before || inner().rank() == root) return event;
    backend_.wait(StreamRole::communication, event);
    auto& old = before_[{data, bytes}];
    auto now = read_array(backend_, static_cast<const std::byte*>(data), bytes, StreamRole::communication);
    if (!old.empty()) backend_.upload_bytes(old.data(), data, old.size());
    old = std::move(now);
    return {};
}

/// Σ|x| over the ranks, which is what a sum's bound is a multiple of.
std::vector<double> FaultyTransport::sum_of_sizes(const std::vector<double>& mine) {
    std::vector<float> sizes(mine.size());
    for (std::size_t i = 0; i < mine.size(); ++i) sizes[i] = static_cast<float>(std::abs(mine[i]));
    const Buffer sum = backend_.allocate(sizes.size() * sizeof(float));
    backend_.upload_bytes(sizes.data(), sum.data(), sum.bytes());
    const auto count = static_cast<std::int64_t>(sizes.size());
    backend_.wait(StreamRole::communication,
                  inner().all_reduce(sum.data(), count, DType::f32, ReduceOp::sum, Wait::at_once));
    return read_numbers(backend_, sum.data(), count, DType::f32, StreamRole::communication);
}

Event FaultyTransport::do_all_reduce(void* data, std::int64_t count, DType dtype, ReduceOp op, Wait wait) {
    const Fault fault = injected_.fault;
    const bool last = inner().rank() == inner().size() - 1;
    if (dtype != DType::f32) return inner().all_reduce(data, count, dtype, op, wait);
    if (fault == Fault::maximum_of_one && op == ReduceOp::maximum) {
        const auto own =
            read_array(backend_, static_cast<const std::byte*>(data), count * 4, StreamRole::communication);
        backend_.wait(StreamRole::communication, inner().all_reduce(data, count, dtype, op, wait));
        backend_.upload_bytes(own.data(), data, own.size());
        return {};
    }
    std::vector<double> sizes;
    if (fault == Fault::reduction_off)
        sizes = sum_of_sizes(read_numbers(backend_, data, count, dtype, StreamRole::communication));
    if (fault == Fault::rank_left_out && last) {
        const std::vector<float> nothing(static_cast<std::size_t>(count));
        backend_.upload_bytes(nothing.data(), data, nothing.size() * sizeof(float));
    }
    Event event = inner().all_reduce(data, count, dtype, op, wait);
    const bool off = fault == Fault::reduction_off && last;
    if (!off && fault != Fault::unwatched) return event;
    backend_.wait(StreamRole::communication, event);
    const auto sums = read_numbers(backend_, data, count, dtype, StreamRole::communication);
    std::vector<float> spoiled(sums.begin(), sums.end());
    if (fault == Fault::unwatched) {
        for (float& x : spoiled) x *= static_cast<float>(1 + injected_.times * agreement_for(dtype).tolerance);
    } else {
        // The element that cancels least: beside its bound, its own rounding is smallest.
        std::size_t at = 0;
        for (std::size_t i = 0; i < sums.size(); ++i)
            if (std::abs(sums[i]) * sizes[at] > std::abs(sums[at]) * sizes[i]) at = i;
        const double bound = rounding_of(dtype).gamma(inner().size() - 1) * sizes[at];
        spoiled[at] = static_cast<float>(sums[at] + injected_.times * bound);
    }
    backend_.upload_bytes(spoiled.data(), data, spoiled.size() * sizeof(float));
    return {};
}

/// The last element of the first message that has any, one unit in the last place off.
Event FaultyTransport::spoiled(Event event, std::span<const Message> receives) {
    backend_.wait(StreamRole::communication, event);
    for (const Message& m : receives) {
        if (m.bytes < 4) continue;
        char* at = static_cast<char*>(m.data) + m.bytes - 4;
        float x = 0;
        backend_.download_bytes(at, &x, sizeof x, StreamRole::communication);
        x = std::nextafter(x, INFINITY);
        backend_.upload_bytes(&x, at, sizeof x);
        break;
    }
    return {};
}

Event FaultyTransport::do_exchange(std::span<const Message> sends, std::span<const Message> receives) {
    Event event = inner().exchange(sends, receives);
    return injected_.fault == Fault::wrong_element ? spoiled(std::move(event), receives) : event;
}

std::vector<Event> FaultyTransport::do_exchange_each(std::span<const Message> sends,
                                                     std::span<const Message> receives) {
    std::vector<Event> events = inner().exchange_each(sends, receives);
    if (injected_.fault == Fault::wrong_element && !receives.empty())
        events[0] = spoiled(std::move(events[0]), receives.first(1));
    return events;
}

std::vector<Event> FaultyTransport::do_read_rows(ConstMatrixView from, std::span<const RowSet> sends,
                                                 std::span<const RowSet> receives) {
    std::vector<Event> events = inner().read_rows(from, sends, receives);
    if (injected_.fault != Fault::wrong_row || receives.empty()) return events;
    const Message first{receives[0].peer, receives[0].to.data, static_cast<std::int64_t>(receives[0].to.bytes())};
    events[0] = spoiled(std::move(events[0]), {&first, 1});
    return events;
}

Event FaultyTransport::do_all_to_all(std::span<const Message> sends, std::span<const Message> receives) {
    Event event = inner().all_to_all(sends, receives);
    return injected_.fault == Fault::wrong_element ? spoiled(std::move(event), receives) : event;
}

}  // namespace gnnbench::faults
