#pragma once
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hypergraph/hypergraph.hpp"
#include "ranks.hpp"

namespace gnnbench::distributed {

using hypergraph::Id;
using hypergraph::NetWeight;
using hypergraph::PartId;
using hypergraph::Weight;

// Index spaces: global ids G = {0 … n−1}, of vertices or of nets; rank r owns {first[r] … first[r+1] − 1}. Local ids of a
// rank: first what it owns, in order, then its ghosts, which others own, by ascending global id.

/// A set of global ids that tells how many are below one: a bit for each, and a count for 64.
class IdSet {
public:
    explicit IdSet(std::int64_t ids) : bits_(usize(ids) / 64 + 1) {}
    void add(Id id) { bits_[id / 64] |= std::uint64_t{1} << (id % 64); }
    bool has(Id id) const { return (bits_[id / 64] >> (id % 64) & 1) != 0; }
    void index();
    /// How many of the set are below `id`; after index().
    Id below(Id id) const {
        return before_[id / 64] +
               static_cast<Id>(std::popcount(bits_[id / 64] & ((std::uint64_t{1} << (id % 64)) - 1)));
    }
    std::vector<Id> listed() const;

private:
    std::vector<std::uint64_t> bits_;
    std::vector<Id> before_;  ///< for each word of bits, how many are set before it
};

/// What a rank owns of a global index space, its ghosts, and who has copies of what it owns.
class Halo {
public:
    Halo() = default;
    /// `ghosts`: ascending, none of them owned. Collective.
    Halo(const Ranks& ranks, std::vector<std::int64_t> first, std::vector<Id> ghosts);

    Id owned() const { return owned_; }
    Id size() const { return owned_ + static_cast<Id>(lists_->ghosts.size()); }
    std::int64_t all() const { return lists_->first.back(); }
    const std::vector<std::int64_t>& first() const { return lists_->first; }
    Id own_first() const { return own_first_; }
    bool owns(Id global) const { return global - own_first_ < owned_; }
    Id global(Id local) const { return local < owned_ ? own_first_ + local : lists_->ghosts[local - owned_]; }
    int owner(Id global) const {
        return static_cast<int>(
                   std::upper_bound(lists_->first.begin(), lists_->first.end(), std::int64_t{global}) -
                   lists_->first.begin()) -
               1;
    }

    /// Ghosts get their owners' values; `values` has length size(). Collective.
    template <class T>
    void push(const Ranks& ranks, std::vector<T>& values) const {
        Mail<T> mail(lists_->copies.size());
        for (std::size_t r = 0; r < mail.size(); ++r) {
            mail[r].reserve(lists_->copies[r].size());
            for (const Id own : lists_->copies[r]) mail[r].push_back(values[own]);
        }
        const Received<T> in = ranks.exchange(mail);
        std::copy(in.values.begin(), in.values.end(), values.begin() + owned_);
    }
    /// The same only of what `changed` marks of the owned; calls arrived(ghost) for each ghost that got a value.
    template <class T, class Arrived>
    void push_changed(const Ranks& ranks, std::vector<T>& values, const std::vector<char>& changed,
                      Arrived&& arrived) const {
        struct Change {
            Id place;
            T value;
        };
        Mail<Change> mail(lists_->copies.size());
        for (std::size_t r = 0; r < mail.size(); ++r)
            for (Id i = 0; i < lists_->copies[r].size(); ++i)
                if (changed[lists_->copies[r][i]]) mail[r].push_back({i, values[lists_->copies[r][i]]});
        const Received<Change> in = ranks.exchange(mail);
        for (int r = 0; r < ranks.count(); ++r)
            for (const Change& c : in.from(r)) {
                const Id ghost = owned_ + lists_->run[usize(r)] + c.place;
                values[ghost] = c.value;
                arrived(ghost);
            }
    }
    /// Adds what ranks have for their ghosts to the owners' values, and clears it. Collective.
    template <class T>
    void add_back(const Ranks& ranks, std::vector<T>& values) const {
        struct Share {
            Id place;
            T value;
        };
        Mail<Share> mail(lists_->copies.size());
        for (std::size_t r = 0; r < mail.size(); ++r)
            for (Id i = lists_->run[r]; i < lists_->run[r + 1]; ++i)
                if (T& value = values[owned_ + i]; value != T{}) {
                    mail[r].push_back({i - lists_->run[r], value});
                    value = T{};
                }
        const Received<Share> in = ranks.exchange(mail);
        for (int r = 0; r < ranks.count(); ++r)
            for (const Share& s : in.from(r)) values[lists_->copies[usize(r)][s.place]] += s.value;
    }
    /// For each rank, what it has copies of: local ids, in the order of its ghosts.
    const std::vector<Id>& copies(int rank) const { return lists_->copies[usize(rank)]; }
    /// The ghosts that rank r owns are local ids owned() + run(r) …
    Id run(int rank) const { return lists_->run[usize(rank)]; }

private:
    struct Lists {
        std::vector<std::int64_t> first{0};
        std::vector<Id> ghosts;  ///< global ids, ascending
        std::vector<Id> run;     ///< length ranks + 1
        std::vector<std::vector<Id>> copies;
    };

    std::shared_ptr<const Lists> lists_ = std::make_shared<Lists>();  ///< one for all copies of this
    Id own_first_ = 0, owned_ = 0;
};

}  // namespace gnnbench::distributed
