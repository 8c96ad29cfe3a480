#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <gnnbench/process_group.hpp>
#include <gnnbench/transport.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench::distributed {

/// What came from each rank, one rank after another.
template <class T>
struct Received {
    std::vector<T> values;
    std::vector<std::size_t> first;  ///< length ranks + 1
    std::span<const T> from(int rank) const {
        return {values.data() + first[usize(rank)], first[usize(rank) + 1] - first[usize(rank)]};
    }
};

/// What is for each rank.
template <class T>
using Mail = std::vector<std::vector<T>>;

/// The ranks that partition together, or this process alone. Every call is collective.
class Ranks {
public:
    /// Throws Unsupported where ranks share a process, which moves no host memory between them.
    explicit Ranks(const ProcessGroup* group);

    int rank() const { return rank_; }
    int count() const { return count_; }

    template <class T>
    Received<T> exchange(const Mail<T>& mail) const {
        std::vector<std::int64_t> bytes(usize(count_));
        for (std::size_t r = 0; r < bytes.size(); ++r) bytes[r] = std::ssize(mail[r]) * std::int64_t{sizeof(T)};
        const std::vector<std::int64_t> coming = exchanged_sizes(bytes);
        Received<T> in;
        in.first.assign(usize(count_) + 1, 0);
        for (std::size_t r = 0; r < bytes.size(); ++r)
            in.first[r + 1] = in.first[r] + usize(coming[r]) / sizeof(T);
        in.values.resize(in.first.back());
        std::vector<Message> sends, receives;
        for (int r = 0; r < count_; ++r) {
            T* const to = in.values.data() + in.first[usize(r)];
            if (r == rank_)
                std::ranges::copy(mail[usize(r)], to);
            else
                add_pair(sends, receives, r, mail[usize(r)].data(), bytes[usize(r)], to, coming[usize(r)]);
        }
        finish(sends, receives);
        return in;
    }

    /// Each rank's values, one rank after another, on all ranks.
    template <class T>
    Received<T> all_gather(const std::vector<T>& mine) const {
        return exchange(Mail<T>(usize(count_), mine));
    }

    /// Sums over ranks, exact below 2^53.
    std::vector<std::int64_t> sum(std::span<const std::int64_t> values) const;
    std::int64_t sum(std::int64_t value) const { return sum(std::span(&value, 1))[0]; }
    std::int64_t maximum(std::int64_t value) const;
    /// Each rank's first number, where each numbers so many: length ranks + 1.
    std::vector<std::int64_t> numbered(std::int64_t mine) const;

private:
    std::vector<std::int64_t> exchanged_sizes(std::vector<std::int64_t>& bytes) const;
    static void add_pair(std::vector<Message>& sends, std::vector<Message>& receives, int peer, const void* out,
                         std::int64_t out_bytes, void* in, std::int64_t in_bytes);
    void finish(const std::vector<Message>& sends, const std::vector<Message>& receives) const;

    const ProcessGroup* group_;
    int rank_ = 0, count_ = 1;
    std::unique_ptr<Transport> transport_;  ///< null where this process is alone
};

}  // namespace gnnbench::distributed
