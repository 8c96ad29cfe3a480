// Size-constrained label propagation (Meyerhenke, Sanders & Schulz, "Partitioning Complex Networks via
// Size-Constrained Clustering", SEA 2014) by the heavy-edge rating of hypergraph partitioners, in synchronous
// sub-rounds as in Gottesbüren & Hamann, "Deterministic Parallel Hypergraph Partitioning", Euro-Par 2022: in each
// sub-round vertices choose in parallel from the same state and are then moved one after another, so the number of
// threads changes nothing.
#include "clustering.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <omp.h>

#include "random.hpp"

namespace gnnbench::hypergraph {
namespace {

constexpr Id sub_rounds = 16;

/// r(v, C) = Σ over nets e of v: ω(e) / (|e| − 1) · |e ∩ C|, kept for the clusters that v's nets meet.
class Ratings {
public:
    explicit Ratings(std::size_t clusters) : rating_(clusters) {}
    void add(Id c, float r) {
        if (rating_[c] == 0) met_.push_back(c);
        rating_[c] += r;
    }
    float operator[](Id c) const { return rating_[c]; }
    const std::vector<Id>& met() const { return met_; }
    void clear() {
        for (const Id c : met_) rating_[c] = 0;
        met_.clear();
    }

private:
    std::vector<float> rating_;  ///< length vertices; 0 for clusters not met
    std::vector<Id> met_;
};

struct State {
    const Hypergraph& h;
    const ClusteringLimits& limits;
    std::span<const PartId> side;
    std::vector<Id> cluster_of;
    std::vector<Weight> weight;  ///< of the cluster named by a vertex
    std::vector<Id> members;     ///< of the cluster named by a vertex

    bool fits(Id v, Id c) const { return weight[c] + h.vertex_weight[v] <= limits.cluster_weight; }
};

/// The best rated cluster with room for v, its own if none is better; ties by a hash, so that no direction is
/// preferred.
Id favourite(const State& s, Id v, Ratings& ratings, std::uint64_t seed) {
    for (const Id net : s.h.nets_of(v)) {
        const Id size = s.h.net_size(net);
        if (size > s.limits.net_size) continue;
        const float r = static_cast<float>(s.h.net_weight[net]) / static_cast<float>(size - 1);
        for (const Id u : s.h.pins_of(net))
            if (u != v) ratings.add(s.cluster_of[u], r);
    }
    const Id own = s.cluster_of[v];
    Id best = own;
    float best_rating = ratings[own];
    for (const Id c : ratings.met()) {
        if (c == own || ratings[c] < best_rating || !s.fits(v, c)) continue;
        if (!s.side.empty() && s.side[c] != s.side[v]) continue;
        if (ratings[c] > best_rating || best == own || mixed(seed, c) < mixed(seed, best))
            best = c, best_rating = ratings[c];
    }
    ratings.clear();
    return best;
}

}  // namespace

std::vector<Id> cluster(const Hypergraph& h, const ClusteringLimits& limits, std::span<const PartId> side,
                        std::uint64_t seed) {
    const Id n = h.vertex_count();
    State s{h, limits, side, std::vector<Id>(n), h.vertex_weight, std::vector<Id>(n, 1)};
    std::iota(s.cluster_of.begin(), s.cluster_of.end(), Id{0});
    Id clusters = n;

    // Each sub-round's vertices at random, but ascending: neighbours in memory are often neighbours in nets.
    std::vector<Id> order(n), wish(n);
    std::array<Id, sub_rounds + 1> first_of{};
    const auto turn_of = [&](Id v) { return mixed(seed, v) % sub_rounds; };
    for (Id v = 0; v < n; ++v) ++first_of[turn_of(v) + 1];
    std::partial_sum(first_of.begin(), first_of.end(), first_of.begin());
    for (auto [v, next] = std::pair{Id{0}, first_of}; v < n; ++v) order[next[turn_of(v)]++] = v;

    std::vector<Ratings> ratings(static_cast<std::size_t>(omp_get_max_threads()), Ratings(n));
    for (int round = 0; round < limits.rounds && clusters > limits.clusters; ++round)
        for (Id turn = 0; turn < sub_rounds && clusters > limits.clusters; ++turn) {
            const std::int64_t first = first_of[turn], last = first_of[turn + 1];
#pragma omp parallel for schedule(dynamic, 256)
            for (std::int64_t i = first; i < last; ++i) {
                const Id v = order[static_cast<std::size_t>(i)];
                Ratings& own_ratings = ratings[static_cast<std::size_t>(omp_get_thread_num())];
                wish[v] = s.members[s.cluster_of[v]] == 1 || round > 0
                              ? favourite(s, v, own_ratings, mixed(seed, static_cast<std::uint64_t>(round)))
                              : s.cluster_of[v];
            }
            for (std::int64_t i = first; i < last && clusters > limits.clusters; ++i) {
                const Id v = order[static_cast<std::size_t>(i)], own = s.cluster_of[v];
                const Id to = s.members[wish[v]] > 0 ? wish[v] : s.cluster_of[wish[v]];
                // Someone may have joined v since, or the wish may have filled up.
                if (to == own || !s.fits(v, to) || (round == 0 && s.members[own] > 1)) continue;
                if (own == v && s.members[own] > 1) continue;
                s.cluster_of[v] = to;
                s.weight[to] += h.vertex_weight[v], ++s.members[to];
                s.weight[own] -= h.vertex_weight[v];
                if (--s.members[own] == 0) --clusters;
            }
        }
    return s.cluster_of;
}

}  // namespace gnnbench::hypergraph
