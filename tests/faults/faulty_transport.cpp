#include "faults/faulty_transport.hpp"

#include <cmath>

#include "check/bounds.hpp"
#include "check/host_copy.hpp"

namespace gnnbench::faults {

Event FaultyTransport::do_broadcast(void* data, std::int64_t bytes, int root, Wait wait) {
    Event event = inner().broadcast(data, bytes, root, wait);
    if (fault_ != Fault::message_of_epoch_before || inner().rank() == root) return event;
    kernel_.wait(StreamRole::communication, event);
    auto& old = before_[{data, bytes}];
    auto now = read_array(kernel_, static_cast<const std::byte*>(data), bytes, StreamRole::communication);
    if (!old.empty()) kernel_.upload_bytes(old.data(), data, old.size());
    old = std::move(now);
    return {};
}

Event FaultyTransport::do_all_reduce(void* data, std::int64_t count, DType dtype, ReduceOp op, Wait wait) {
    const bool last = inner().rank() == inner().size() - 1;
    if (dtype != DType::f32) return inner().all_reduce(data, count, dtype, op, wait);
    const auto mine = read_numbers(kernel_, data, count, dtype, StreamRole::communication);
    if (fault_ == Fault::rank_left_out && last) {
        const std::vector<float> nothing(static_cast<std::size_t>(count));
        kernel_.upload_bytes(nothing.data(), data, nothing.size() * sizeof(float));
    }
    Event event = inner().all_reduce(data, count, dtype, op, wait);
    if (fault_ != Fault::reduction_off || !last) return event;
    kernel_.wait(StreamRole::communication, event);
    // Σ|x| is at least this rank's |x| and the sum's.
    auto sum = static_cast<float>(read_numbers(kernel_, data, 1, dtype, StreamRole::communication)[0]);
    const double least = std::max(std::abs(mine[0]), static_cast<double>(std::abs(sum)));
    const double sizes = least + std::abs(static_cast<double>(sum) - mine[0]);
    sum = static_cast<float>(static_cast<double>(sum) +
                             2 * times_bound * rounding_of(dtype).gamma(inner().size()) * sizes);
    kernel_.upload_bytes(&sum, data, sizeof sum);
    return {};
}

/// The last element of the first message that has any, one unit in the last place off.
Event FaultyTransport::spoiled(Event event, std::span<const Message> receives) {
    if (fault_ != Fault::wrong_element) return event;
    kernel_.wait(StreamRole::communication, event);
    for (const Message& m : receives) {
        if (m.bytes < 4) continue;
        char* at = static_cast<char*>(m.data) + m.bytes - 4;
        float x = 0;
        kernel_.download_bytes(at, &x, sizeof x, StreamRole::communication);
        x = std::nextafter(x, INFINITY);
        kernel_.upload_bytes(&x, at, sizeof x);
        break;
    }
    return {};
}

Event FaultyTransport::do_exchange(std::span<const Message> sends, std::span<const Message> receives) {
    return spoiled(inner().exchange(sends, receives), receives);
}

std::vector<Event> FaultyTransport::do_exchange_each(std::span<const Message> sends,
                                                     std::span<const Message> receives) {
    std::vector<Event> events = inner().exchange_each(sends, receives);
    if (!receives.empty()) events[0] = spoiled(std::move(events[0]), receives.first(1));
    return events;
}

Event FaultyTransport::do_all_to_all(std::span<const Message> sends, std::span<const Message> receives) {
    return spoiled(inner().all_to_all(sends, receives), receives);
}

}  // namespace gnnbench::faults
