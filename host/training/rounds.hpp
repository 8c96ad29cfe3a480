#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <gnnbench/transport.hpp>

namespace gnnbench {

/// Records from every rank to every rank, in rounds, so that what is on its way never takes more than a fixed number of
/// bytes. Ranks with equal needs form a group: a record for a group goes to each rank of it. A rank's records reach another
/// in the order in which they were put.
///
///   capacity   of what one rank sends to one group in a round: round_bytes / ranks, or one record if that is more
///   sending    groups · capacity
///   arriving   at most ranks · capacity
class Rounds {
public:
    /// Called with what one rank put, whole records one after another.
    using Use = std::function<void(std::span<const std::byte> records)>;

    /// `group_of` [ranks]: the group that each rank is in, of {0 … groups − 1}; −1: it is sent nothing. The same on all
    /// ranks. Collective.
    Rounds(Transport& ranks, std::vector<int> group_of, int groups, std::int64_t round_bytes,
           std::int64_t largest_record, Use use);

    /// Room for a record of so many bytes, to be written before the next call. A round goes before it where the group's
    /// buffer is full; it waits until every other rank takes part in one.
    std::byte* put(int group, std::size_t bytes);
    /// How many bytes one put() to the group can have without a round before it.
    std::size_t left(int group) const { return capacity_ - used_[usize(group)]; }
    std::size_t capacity() const { return capacity_; }
    /// Takes part in rounds until no rank has any more. Collective.
    void finish();

    double seconds() const { return seconds_; }  ///< in rounds, the waiting for other ranks included
    std::int64_t received_bytes() const { return received_bytes_; }

private:
    struct Told {
        std::int64_t bytes = 0, more = 0;
    };

    bool round(bool more);
    std::span<std::byte> records_for(int group) {
        return {sending_.data() + usize(group) * capacity_, used_[usize(group)]};
    }

    Transport& ranks_;
    std::vector<int> group_of_;
    Use use_;
    std::size_t capacity_;
    std::vector<std::size_t> used_;  ///< by group
    std::vector<std::byte> sending_, arriving_;
    double seconds_ = 0;
    std::int64_t received_bytes_ = 0;
};

/// What the buffers of Rounds take at most.
std::int64_t rounds_bytes(int ranks, int groups, std::int64_t round_bytes, std::int64_t largest_record);

}  // namespace gnnbench
