#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "hypergraph/gains.hpp"
#include "level.hpp"
#include "net_words.hpp"

namespace gnnbench::distributed {

using hypergraph::BestMove;

/// A partition of a level's vertices: a rank knows the parts of its own and of its ghosts, and of its nets and ghost nets
/// which parts they meet, and where with a single pin.
class Partitioned {
public:
    /// `part_of`: of own vertices. Collective, like all that is not const.
    Partitioned(const Ranks& ranks, const Level& level, PartId parts, std::vector<PartId> part_of);

    const Level& level() const { return level_; }
    PartId parts() const { return parts_; }
    PartId part_of(Id v) const { return part_of_[v]; }
    Weight part_weight(PartId p) const { return part_weight_[usize(p)]; }
    const std::vector<Weight>& part_weights() const { return part_weight_; }
    Weight heaviest() const;
    std::int64_t connectivity_minus_one() const { return cut_; }
    std::vector<PartId> own_parts() const {
        return {part_of_.begin(), part_of_.begin() + level_.vertices.owned()};
    }

    /// Calls use(part, single) for each part that a net meets, ascending.
    template <class Use>
    void for_each_met(Id net, Use&& use) const {
        for (const std::uint32_t word : met_.of(net)) use(static_cast<PartId>(word >> 1), (word & 1) != 0);
    }
    std::size_t connectivity(Id net) const { return met_.of(net).size(); }

    struct Move {
        Id vertex;  ///< own
        PartId to;
    };
    /// Moves own vertices.
    void move(std::span<const Move> moves);

    /// Whether what a net meets has changed, of own nets and ghosts, since forget_changes().
    bool net_changed(Id net) const { return net_changed_[net] != 0; }
    void forget_changes() { std::fill(net_changed_.begin(), net_changed_.end(), 0); }

private:
    void refresh(const std::vector<char>& moved);

    const Ranks& ranks_;
    const Level& level_;
    PartId parts_;
    std::vector<PartId> part_of_;      ///< of own vertices and ghosts
    std::vector<Weight> part_weight_;  ///< length parts, of all ranks
    NetWords met_;                     ///< 2 · part + 1 where the net has a single pin in it, else 2 · part
    std::vector<char> net_changed_;    ///< length nets
    std::vector<Id> pins_in_;          ///< length parts; 0 between uses
    std::int64_t own_cut_ = 0, cut_ = 0;
};

/// Finds the best part for an own vertex, as `hypergraph` does: gain(v → p) = Σ ω(e) over its nets that meet p, less those
/// with another pin in its own part; the lighter part of two that are equally good.
class BestMoveFinder {
public:
    explicit BestMoveFinder(PartId parts) : shared_(usize(parts)) {}

    template <class Allowed>
    BestMove find(const Partitioned& p, Id v, Allowed&& allowed) {
        const Level& level = p.level();
        const PartId own = p.part_of(v);
        BestMove best;
        for (const Id e : level.nets_of->of(v)) {
            const NetWeight weight = level.net_weight[e];
            p.for_each_met(e, [&](PartId part, bool single) {
                if (part == own) {
                    best.held += single ? 0 : weight;
                    return;
                }
                if (shared_[usize(part)] == 0) met_.push_back(part);
                shared_[usize(part)] += weight;
            });
        }
        NetWeight most = 0;
        for (const PartId part : met_) {
            const NetWeight shared = shared_[usize(part)];
            shared_[usize(part)] = 0;
            if (shared < most || !allowed(part)) continue;
            if (shared == most && best.to >= 0 &&
                (p.part_weight(part) > p.part_weight(best.to) ||
                 (p.part_weight(part) == p.part_weight(best.to) && part > best.to)))
                continue;
            most = shared, best.to = part;
        }
        met_.clear();
        best.gain = most - best.held;
        return best;
    }

private:
    std::vector<NetWeight> shared_;  ///< length parts
    std::vector<PartId> met_;
};

}  // namespace gnnbench::distributed
