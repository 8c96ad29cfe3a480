#include "ranks.hpp"

#include <gnnbench/error.hpp>

namespace gnnbench::distributed {

Ranks::Ranks(const ProcessGroup* group) : group_(group) {
    if (!group || group->size() == 1) return;
    rank_ = group->rank();
    count_ = group->size();
    transport_ = group->host_transport();
    if (!transport_)
        throw Unsupported("partitions over processes; ranks that share one cannot exchange its messages");
}

void Ranks::add_pair(std::vector<Message>& sends, std::vector<Message>& receives, int peer, const void* out,
                     std::int64_t out_bytes, void* in, std::int64_t in_bytes) {
    // A message's data is not const, since it may also be received into; what is sent is only read.
    if (out_bytes > 0) sends.push_back({peer, const_cast<void*>(out), out_bytes});
    if (in_bytes > 0) receives.push_back({peer, in, in_bytes});
}

void Ranks::finish(const std::vector<Message>& sends, const std::vector<Message>& receives) const {
    if (!transport_) return;
    const Event all = transport_->all_to_all(sends, receives);
    if (all.state()) all.state()->wait_on_host();
}

std::vector<std::int64_t> Ranks::exchanged_sizes(std::vector<std::int64_t>& bytes) const {
    std::vector<std::int64_t> coming(bytes.size());
    coming[usize(rank_)] = bytes[usize(rank_)];
    std::vector<Message> sends, receives;
    for (int r = 0; r < count_; ++r)
        if (r != rank_)
            add_pair(sends, receives, r, &bytes[usize(r)], sizeof(std::int64_t), &coming[usize(r)],
                     sizeof(std::int64_t));
    finish(sends, receives);
    return coming;
}

std::vector<std::int64_t> Ranks::sum(std::span<const std::int64_t> values) const {
    if (!transport_) return {values.begin(), values.end()};
    const std::vector<double> all = group_->sum({values.begin(), values.end()});
    return {all.begin(), all.end()};
}

std::int64_t Ranks::maximum(std::int64_t value) const {
    return transport_ ? static_cast<std::int64_t>(group_->maximum({static_cast<double>(value)})[0]) : value;
}

std::vector<std::int64_t> Ranks::numbered(std::int64_t mine) const {
    const Received<std::int64_t> counts = all_gather(std::vector<std::int64_t>{mine});
    std::vector<std::int64_t> first(usize(count_) + 1);
    std::inclusive_scan(counts.values.begin(), counts.values.end(), first.begin() + 1);
    return first;
}

}  // namespace gnnbench::distributed
