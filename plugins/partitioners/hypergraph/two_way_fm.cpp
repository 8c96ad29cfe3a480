// C. M. Fiduccia and R. M. Mattheyses, "A Linear-Time Heuristic for Improving Network Partitions", DAC 1982, with
// heaps in place of buckets, since merged nets weigh more than one; greedy growing as in Çatalyürek & Aykanat's
// PaToH.
#include "two_way_fm.hpp"

#include <algorithm>

#include "addressable_heap.hpp"

namespace gnnbench::hypergraph {
namespace {

class TwoWay {
public:
    TwoWay(const Hypergraph& h, const BisectionGoal& goal, std::vector<PartId>& side)
        : h_(h),
          goal_(goal),
          side_(side),
          pins_(h.net_count() * std::size_t{2}),
          gain_(h.vertex_count()),
          moved_(h.vertex_count()),
          heaps_{Heap(h.vertex_count()), Heap(h.vertex_count())} {
        for (Id v = 0; v < h.vertex_count(); ++v) weight_[side[v]] += h.vertex_weight[v];
        for (Id e = 0; e < h.net_count(); ++e) {
            for (const Id v : h.pins_of(e)) ++pins_in(e, side[v]);
            if (pins_in(e, 0) > 0 && pins_in(e, 1) > 0) cut_ += h.net_weight[e];
        }
    }

    std::int64_t cut() const { return cut_; }

    /// One pass of FM: moves each vertex at most once, keeps the best prefix. False if it improved nothing.
    bool pass() {
        std::fill(moved_.begin(), moved_.end(), 0);
        compute_gains();
        for (Id e = 0; e < h_.net_count(); ++e)
            if (pins_in(e, 0) > 0 && pins_in(e, 1) > 0)
                for (const Id v : h_.pins_of(e)) enter(v);
        if (excess() > 0)
            for (Id v = 0; v < h_.vertex_count(); ++v) enter(v);

        const Weight excess_before = excess();
        const std::int64_t cut_before = cut_;
        Weight best_excess = excess_before;
        std::int64_t best_cut = cut_before;
        std::vector<Id> order;
        std::size_t kept = 0;
        const std::size_t patience = 50 + h_.vertex_count() / 20;
        while (order.size() - kept < patience) {
            const int from = choose_side();
            if (from < 0) break;
            const Id v = heaps_[from].top();
            move(v);
            order.push_back(v);
            if (excess() < best_excess || (excess() == best_excess && cut_ < best_cut))
                best_excess = excess(), best_cut = cut_, kept = order.size();
        }
        while (order.size() > kept) {
            flip(order.back());
            order.pop_back();
        }
        heaps_[0].clear(), heaps_[1].clear();
        return best_excess < excess_before || best_cut < cut_before;
    }

    /// Moves from side 1 to side 0 the vertex of the best gain until side 0 weighs its target.
    void grow_from(Id start) {
        compute_gains();
        enter(start);
        Id next = 0;
        while (weight_[0] < goal_.target[0]) {
            while (heaps_[1].empty() && next < h_.vertex_count()) {
                if (side_[next] == 1 && !moved_[next]) enter(next);
                ++next;
            }
            if (heaps_[1].empty()) break;
            const Id v = heaps_[1].top();
            if (weight_[0] + h_.vertex_weight[v] > goal_.limit[0]) {
                moved_[v] = 1;
                heaps_[1].erase(v);
                continue;
            }
            move(v);
        }
    }

private:
    using Heap = AddressableHeap;
    Id& pins_in(Id e, int side) { return pins_[e * std::size_t{2} + static_cast<std::size_t>(side)]; }
    Weight excess() const {
        return std::max<Weight>(0, weight_[0] - goal_.limit[0]) + std::max<Weight>(0, weight_[1] - goal_.limit[1]);
    }

    void enter(Id v) {
        if (!moved_[v] && !heaps_[side_[v]].contains(v)) heaps_[side_[v]].push(v, gain_[v]);
    }

    void compute_gains() {
        for (Id v = 0; v < h_.vertex_count(); ++v) {
            const int own = side_[v];
            std::int64_t gain = 0;
            for (const Id e : h_.nets_of(v)) {
                if (pins_in(e, own) == 1) gain += h_.net_weight[e];
                if (pins_in(e, 1 - own) == 0) gain -= h_.net_weight[e];
            }
            gain_[v] = gain;
        }
    }

    /// The side to take the next vertex from; −1 if no move is allowed.
    int choose_side() {
        for (int side : {0, 1})
            if (weight_[side] > goal_.limit[side]) return heaps_[side].empty() ? -1 : side;
        // What doesn't fit now is put aside for this pass.
        for (int side : {0, 1})
            while (!heaps_[side].empty() &&
                   weight_[1 - side] + h_.vertex_weight[heaps_[side].top()] > goal_.limit[1 - side])
                heaps_[side].erase(heaps_[side].top());
        if (heaps_[0].empty() || heaps_[1].empty()) return heaps_[0].empty() ? (heaps_[1].empty() ? -1 : 1) : 0;
        if (heaps_[0].top_key() != heaps_[1].top_key()) return heaps_[0].top_key() > heaps_[1].top_key() ? 0 : 1;
        return weight_[0] * goal_.target[1] >= weight_[1] * goal_.target[0] ? 0 : 1;
    }

    void shift(Id v, std::int64_t by) {
        gain_[v] += by;
        if (heaps_[side_[v]].contains(v)) heaps_[side_[v]].update(v, gain_[v]);
    }

    void move(Id v) {
        const int from = side_[v], to = 1 - from;
        if (heaps_[from].contains(v)) heaps_[from].erase(v);
        moved_[v] = 1;
        cut_ -= gain_[v];
        for (const Id e : h_.nets_of(v)) {
            const NetWeight w = h_.net_weight[e];
            const Id there = pins_in(e, to)++, left = --pins_in(e, from);
            if (there > 1 && left > 1) continue;
            // Nets that change from whole to cut or back change every pin's gain; those with one pin on a side, that
            // pin's.
            for (const Id u : h_.pins_of(e)) {
                if (u == v || moved_[u]) continue;
                std::int64_t by = 0;
                if (there == 0) by += w;                     // the net is cut now
                if (there == 1 && side_[u] == to) by -= w;   // u isn't alone any more
                if (left == 0) by -= w;                      // the net is whole now
                if (left == 1 && side_[u] == from) by += w;  // u is alone now
                if (by != 0) shift(u, by);
                if (there == 0) enter(u);
            }
        }
        flip_weight(v, to);
    }

    void flip_weight(Id v, int to) {
        weight_[1 - to] -= h_.vertex_weight[v];
        weight_[to] += h_.vertex_weight[v];
        side_[v] = to;
    }

    void flip(Id v) {
        const int from = side_[v], to = 1 - from;
        for (const Id e : h_.nets_of(v)) {
            if (pins_in(e, to)++ == 0) cut_ += h_.net_weight[e];
            if (--pins_in(e, from) == 0) cut_ -= h_.net_weight[e];
        }
        flip_weight(v, to);
    }

    const Hypergraph& h_;
    const BisectionGoal& goal_;
    std::vector<PartId>& side_;
    std::vector<Id> pins_;            ///< length 2 × nets: Φ(e, 0), Φ(e, 1)
    std::vector<std::int64_t> gain_;  ///< length vertices
    std::vector<char> moved_;         ///< length vertices
    Heap heaps_[2];                   ///< vertices of either side by gain
    Weight weight_[2] = {0, 0};
    std::int64_t cut_ = 0;
};

}  // namespace

std::int64_t refine_two_way(const Hypergraph& h, const BisectionGoal& goal, std::vector<PartId>& side,
                            int passes) {
    TwoWay state(h, goal, side);
    while (passes-- > 0 && state.pass()) {
    }
    return state.cut();
}

std::vector<PartId> grow(const Hypergraph& h, const BisectionGoal& goal, Id start) {
    std::vector<PartId> side(h.vertex_count(), 1);
    TwoWay(h, goal, side).grow_from(start);
    return side;
}

}  // namespace gnnbench::hypergraph
