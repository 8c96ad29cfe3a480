#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "hypergraph.hpp"

namespace gnnbench::hypergraph {

/// A hypergraph and a partition of it, with Φ(e, p) for every net and part that meets it. Memory: 16 bytes for each net
/// and 4 for each of the min(|e|, k) parts that it can meet: a listed net has a word for each part that it meets, p in
/// the low bits, Φ − 1 above; a tabled one, of many pins, Φ of every part.
class Partitioned {
public:
    Partitioned(const Hypergraph& h, PartId parts, std::vector<PartId> part_of);

    const Hypergraph& hypergraph() const { return *h_; }
    PartId parts() const { return parts_; }
    PartId part_of(Id v) const { return part_of_[v]; }
    const std::vector<PartId>& assignment() const { return part_of_; }
    std::vector<PartId> take() && { return std::move(part_of_); }
    Weight part_weight(PartId p) const { return part_weight_[static_cast<std::size_t>(p)]; }
    /// Calls use(part, pins) for each part that a net meets, in no order.
    template <typename Use>
    void for_each_met(Id net, Use&& use) const {
        const Net& n = nets_[net];
        const std::uint32_t* const word = words_.data() + n.first;
        if (n.tabled) {
            for (PartId p = 0; p < parts_; ++p)
                if (word[p] > 0) use(p, word[p]);
            return;
        }
        for (Id i = 0; i < n.met; ++i) use(static_cast<PartId>(word[i] & part_mask_), (word[i] >> part_bits_) + 1);
    }
    Id connectivity(Id net) const { return nets_[net].met; }
    NetWeight weight(Id net) const { return nets_[net].weight; }
    Id pins_in(Id net, PartId p) const {
        const Net& n = nets_[net];
        const std::uint32_t* const word = words_.data() + n.first;
        if (n.tabled) return word[p];
        for (Id i = 0; i < n.met; ++i)
            if ((word[i] & part_mask_) == static_cast<std::uint32_t>(p)) return (word[i] >> part_bits_) + 1;
        return 0;
    }
    /// Starts to load what for_each_met() reads.
    void prefetch(Id net) const { __builtin_prefetch(words_.data() + nets_[net].first); }

    /// Moves one vertex; returns by how much connectivity−1 fell. `touched(net, from_left, to_left)` is called for
    /// each of its nets with the pins that both parts have then.
    template <typename Touched>
    std::int64_t move(Id v, PartId to, Touched&& touched) {
        const PartId from = part_of_[v];
        std::int64_t gain = 0;
        for (const Id net : h_->nets_of(v)) {
            const Id left = remove_pin(net, from), there = add_pin(net, to);
            gain += (left == 0 ? nets_[net].weight : 0) - (there == 1 ? nets_[net].weight : 0);
            touched(net, left, there);
        }
        part_of_[v] = to;
        part_weight_[static_cast<std::size_t>(from)] -= h_->vertex_weight[v];
        part_weight_[static_cast<std::size_t>(to)] += h_->vertex_weight[v];
        return gain;
    }
    std::int64_t move(Id v, PartId to) {
        return move(v, to, [](Id, Id, Id) {});
    }

    struct Move {
        Id vertex;
        PartId to;
    };
    /// Moves many different vertices, in this order as far as `gains` are concerned: gains[i] is by how much
    /// connectivity−1 falls when moves[i] follows moves[0 … i−1]. Sets touched[e] for nets through which it changes
    /// another vertex' gain. In parallel, each thread for a range of nets: the result is the same for any number of
    /// threads.
    void move_all(std::span<const Move> moves, std::span<NetWeight> gains, std::vector<char>& touched);

    /// Σ over nets: ω(e) · (λ(e) − 1).
    std::int64_t connectivity_minus_one() const;
    Weight heaviest() const { return *std::max_element(part_weight_.begin(), part_weight_.end()); }

private:
    struct Net {
        std::uint64_t first : 63;  ///< where its words begin
        std::uint64_t tabled : 1;
        Id met;  ///< λ(e)
        NetWeight weight;
    };

    Id remove_pin(Id net, PartId p) {
        Net& n = nets_[net];
        std::uint32_t* const word = words_.data() + n.first;
        if (n.tabled) {
            const Id left = --word[p];
            if (left == 0) --n.met;
            return left;
        }
        Id i = 0;
        while ((word[i] & part_mask_) != static_cast<std::uint32_t>(p)) ++i;
        const Id left = word[i] >> part_bits_;
        if (left == 0)
            word[i] = word[--n.met];
        else
            word[i] -= std::uint32_t{1} << part_bits_;
        return left;
    }
    Id add_pin(Id net, PartId p) {
        Net& n = nets_[net];
        std::uint32_t* const word = words_.data() + n.first;
        if (n.tabled) {
            if (word[p] == 0) ++n.met;
            return ++word[p];
        }
        for (Id i = 0; i < n.met; ++i)
            if ((word[i] & part_mask_) == static_cast<std::uint32_t>(p)) {
                word[i] += std::uint32_t{1} << part_bits_;
                return (word[i] >> part_bits_) + 1;
            }
        word[n.met++] = static_cast<std::uint32_t>(p);
        return 1;
    }

    const Hypergraph* h_;
    PartId parts_;
    unsigned part_bits_;  ///< of a word, for the part's number
    std::uint32_t part_mask_;
    std::vector<PartId> part_of_;       ///< length vertices
    std::vector<Weight> part_weight_;   ///< length parts
    std::vector<Net> nets_;             ///< length nets
    std::vector<std::uint32_t> words_;  ///< length Σ min(|e|, k)
};

/// Σ ω(e)(λ(e) − 1) from a vector of parts alone.
std::int64_t connectivity_minus_one(const Hypergraph& h, std::span<const PartId> part_of, PartId parts);

}  // namespace gnnbench::hypergraph
