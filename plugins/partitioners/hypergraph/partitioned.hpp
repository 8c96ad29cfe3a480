#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "hypergraph.hpp"

namespace gnnbench::hypergraph {

/// A net's share of one part: Φ(e, p) pins.
struct PinCount {
    PartId part;
    Id count;
};

/// A hypergraph and a partition of it, with Φ(e, p) for every net and part that meets it. Memory: one PinCount for
/// each of min(|e|, k) parts a net can meet.
class Partitioned {
public:
    Partitioned(const Hypergraph& h, PartId parts, std::vector<PartId> part_of);

    const Hypergraph& hypergraph() const { return *h_; }
    PartId parts() const { return parts_; }
    PartId part_of(Id v) const { return part_of_[v]; }
    const std::vector<PartId>& assignment() const { return part_of_; }
    std::vector<PartId> take() && { return std::move(part_of_); }
    Weight part_weight(PartId p) const { return part_weight_[static_cast<std::size_t>(p)]; }
    /// The parts that a net meets, in no order.
    std::span<const PinCount> met(Id net) const { return {counts_.data() + first_[net], met_[net]}; }
    Id connectivity(Id net) const { return met_[net]; }
    Id pins_in(Id net, PartId p) const {
        for (const PinCount& c : met(net))
            if (c.part == p) return c.count;
        return 0;
    }

    /// Moves one vertex; returns by how much connectivity−1 fell. `touched(net, from_left, to_left)` is called for
    /// each of its nets with the pins that both parts have then.
    template <typename Touched>
    std::int64_t move(Id v, PartId to, Touched&& touched) {
        const PartId from = part_of_[v];
        std::int64_t gain = 0;
        for (const Id net : h_->nets_of(v)) {
            const Id left = remove_pin(net, from), there = add_pin(net, to);
            gain += (left == 0 ? h_->net_weight[net] : 0) - (there == 1 ? h_->net_weight[net] : 0);
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
    Id remove_pin(Id net, PartId p) {
        PinCount* const c = counts_.data() + first_[net];
        Id i = 0;
        while (c[i].part != p) ++i;
        const Id left = --c[i].count;
        if (left == 0) c[i] = c[--met_[net]];
        return left;
    }
    Id add_pin(Id net, PartId p) {
        PinCount* const c = counts_.data() + first_[net];
        const Id met = met_[net];
        for (Id i = 0; i < met; ++i)
            if (c[i].part == p) return ++c[i].count;
        c[met] = {p, 1};
        ++met_[net];
        return 1;
    }

    const Hypergraph* h_;
    PartId parts_;
    std::vector<PartId> part_of_;      ///< length vertices
    std::vector<Weight> part_weight_;  ///< length parts
    std::vector<std::int64_t> first_;  ///< length nets + 1: where a net's counts begin
    std::vector<PinCount> counts_;     ///< length Σ min(|e|, k)
    std::vector<Id> met_;              ///< length nets: λ(e)
};

/// Σ ω(e)(λ(e) − 1) from a vector of parts alone.
std::int64_t connectivity_minus_one(const Hypergraph& h, std::span<const PartId> part_of, PartId parts);

}  // namespace gnnbench::hypergraph
