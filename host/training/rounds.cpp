#include "training/rounds.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

std::int64_t capacity_of(int ranks, std::int64_t round_bytes, std::int64_t largest_record) {
    return std::max(round_bytes / ranks, largest_record);
}

/// Sends[j] to rank j, receives[j] from it; none to this one.
void exchange(Transport& ranks, std::span<const Message> sends, std::span<const Message> receives) {
    const Event done = ranks.all_to_all(sends, receives);
    if (!done.happened_at_once()) done.state()->wait_on_host();
}

}  // namespace

std::int64_t rounds_bytes(int ranks, int groups, std::int64_t round_bytes, std::int64_t largest_record) {
    return (ranks + groups) * capacity_of(ranks, round_bytes, largest_record);
}

Rounds::Rounds(Transport& ranks, std::vector<int> group_of, int groups, std::int64_t round_bytes,
               std::int64_t largest_record, Use use)
    : ranks_(ranks),
      group_of_(std::move(group_of)),
      use_(std::move(use)),
      capacity_(usize(capacity_of(ranks.size(), round_bytes, largest_record))),
      used_(usize(groups)),
      sending_(usize(groups) * capacity_) {
    ranks_.barrier();
}

std::byte* Rounds::put(int group, std::size_t bytes) {
    if (bytes > capacity_) throw LogicError("a record is larger than the largest that was announced");
    if (bytes > left(group)) round(true);
    const std::size_t at = std::exchange(used_[usize(group)], used_[usize(group)] + bytes);
    return sending_.data() + usize(group) * capacity_ + at;
}

void Rounds::finish() {
    while (round(false)) continue;
}

/// Whether any rank has more to send.
bool Rounds::round(bool more) {
    const auto start = std::chrono::steady_clock::now();
    const int size = ranks_.size(), me = ranks_.rank();
    std::vector<Told> mine(usize(size)), theirs(usize(size));
    std::vector<Message> sends, receives;
    for (int j = 0; j < size; ++j) {
        const int group = group_of_[usize(j)];
        mine[usize(j)] = {.bytes = group < 0 ? 0 : std::ssize(records_for(group)), .more = more};
        const std::int64_t bytes = j == me ? 0 : sizeof(Told);
        sends.push_back({j, &mine[usize(j)], bytes});
        receives.push_back({j, &theirs[usize(j)], bytes});
    }
    exchange(ranks_, sends, receives);
    theirs[usize(me)] = mine[usize(me)];

    std::int64_t total = 0;
    for (int j = 0; j < size; ++j)
        if (j != me) total += theirs[usize(j)].bytes;
    arriving_.resize(usize(total));
    received_bytes_ += total;
    std::byte* to = arriving_.data();
    for (int j = 0; j < size; ++j) {
        const int group = group_of_[usize(j)];
        if (group >= 0) sends[usize(j)].data = records_for(group).data();
        sends[usize(j)].bytes = j == me ? 0 : mine[usize(j)].bytes;
        receives[usize(j)] = {j, to, j == me ? 0 : theirs[usize(j)].bytes};
        to += receives[usize(j)].bytes;
    }
    exchange(ranks_, sends, receives);
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

    bool any = false;
    for (int j = 0; j < size; ++j) {
        any = any || theirs[usize(j)].more != 0;
        const Message& from = receives[usize(j)];
        if (j == me && group_of_[usize(me)] >= 0)
            use_(records_for(group_of_[usize(me)]));
        else if (from.bytes > 0)
            use_({static_cast<const std::byte*>(from.data), usize(from.bytes)});
    }
    std::ranges::fill(used_, 0);
    return any;
}

}  // namespace gnnbench
