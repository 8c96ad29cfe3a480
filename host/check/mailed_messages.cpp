#include "check/mailed_messages.hpp"

#include <algorithm>
#include <memory>
#include <numeric>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
MailedMessages::MailedMessages(ProcessGroup group)
    : ControlMessages(std::move(group)), turns_(*this->group().turns()) {}

ControlMessages::Handle MailedMessages::add(Finish finish) {
    pending_.emplace(next_, std::move(finish));
    return next_++;
}

void MailedMessages::post_to_others(std::span<const std::byte> bytes, std::uint64_t number) {
    const auto shared = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
    for (int r = 0; r < group().size(); ++r)
        if (r != group().rank()) turns_.post(r, Turns::Key{Turns::Kind::collective, number}, shared);
}

ControlMessages::Handle MailedMessages::broadcast(std::vector<std::byte> bytes, int root) {
    const Turns::Key key{Turns::Kind::collective, collectives_++};
    if (root != group().rank()) return add([this, root, key] { return Content{*turns_.collect(root, key), {}}; });
    post_to_others(bytes, key.number);
    return add([bytes = std::move(bytes)] { return Content{bytes, {}}; });
}

ControlMessages::Handle MailedMessages::all_gather(std::vector<std::byte> all,
                                                   std::span<const std::int64_t> byte_counts) {
    const Turns::Key key{Turns::Kind::collective, collectives_++};
    const int rank = group().rank();
    const auto starts_before = [](std::span<const std::int64_t> counts, int r) {
        return usize(std::accumulate(counts.begin(), counts.begin() + r, std::int64_t{0}));
    };
    post_to_others(std::span(all).subspan(starts_before(byte_counts, rank), usize(byte_counts[usize(rank)])),
                   key.number);
    return add([this, key, rank, starts_before, all = std::move(all),
                counts = std::vector<std::int64_t>(byte_counts.begin(), byte_counts.end())]() mutable {
        for (int r = 0; r < group().size(); ++r)
            if (r != rank)
                std::ranges::copy(*turns_.collect(r, key),
                                  all.begin() + static_cast<std::ptrdiff_t>(starts_before(counts, r)));
        return Content{std::move(all), {}};
    });
}

ControlMessages::Handle MailedMessages::all_reduce(std::vector<double> numbers, ReduceOp op) {
    const Turns::Key key{Turns::Kind::collective, collectives_++};
    post_to_others(std::as_bytes(std::span(numbers)), key.number);
    return add([this, key, op, numbers = std::move(numbers)]() mutable {
        std::vector<double> other(numbers.size());
        for (int r = 0; r < group().size(); ++r) {
            if (r == group().rank()) continue;
            const auto bytes = turns_.collect(r, key);
            require(bytes->size() == numbers.size() * sizeof(double), "ranks reduce as many numbers");
            if (!bytes->empty()) std::memcpy(other.data(), bytes->data(), bytes->size());
            for (std::size_t i = 0; i < numbers.size(); ++i)
                numbers[i] = op == ReduceOp::sum ? numbers[i] + other[i] : std::max(numbers[i], other[i]);
        }
        return Content{{}, std::move(numbers)};
    });
}

void MailedMessages::send(std::vector<std::byte> bytes, int peer) {
    turns_.post(peer, Turns::Key{Turns::Kind::message, sent_[peer]++},
                std::make_shared<const std::vector<std::byte>>(std::move(bytes)));
}

ControlMessages::Handle MailedMessages::receive(std::int64_t, int peer) {
    const Turns::Key key{Turns::Kind::message, received_[peer]++};
    return add([this, peer, key] { return Content{*turns_.collect(peer, key), {}}; });
}

ControlMessages::Content MailedMessages::take(Handle handle) {
    auto node = pending_.extract(handle);
    require(!node.empty(), "a control message is taken once");
    return node.mapped()();
}

}  // namespace gnnbench
