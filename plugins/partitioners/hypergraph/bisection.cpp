// Multilevel bisection (Karypis et al., DAC 1997): cluster down to a hundred vertices, grow the first side from several
// starts, refine by FM on the way back.
#include "bisection.hpp"

#include <algorithm>

#include "clustering.hpp"
#include "contraction.hpp"
#include "random.hpp"
#include "two_way_fm.hpp"

namespace gnnbench::hypergraph {
namespace {

constexpr Id coarsest = 120;
constexpr int bisection_passes = 4;

Weight excess(const Hypergraph& h, const BisectionGoal& goal, const std::vector<PartId>& side) {
    Weight weight[2] = {0, 0};
    for (Id v = 0; v < h.vertex_count(); ++v) weight[side[v]] += h.vertex_weight[v];
    return std::max<Weight>(0, weight[0] - goal.limit[0]) + std::max<Weight>(0, weight[1] - goal.limit[1]);
}

std::vector<PartId> best_of_starts(const Hypergraph& h, const BisectionGoal& goal, std::uint64_t seed) {
    std::vector<PartId> best;
    std::pair<Weight, std::int64_t> best_cost{};
    for (int i = 0; i < goal.tries; ++i) {
        const Id start = static_cast<Id>(mixed(seed, static_cast<std::uint64_t>(i)) % h.vertex_count());
        std::vector<PartId> side = grow(h, goal, start);
        const std::int64_t cut = refine_two_way(h, goal, side, bisection_passes);
        const std::pair cost{excess(h, goal, side), cut};
        if (best.empty() || cost < best_cost) best = std::move(side), best_cost = cost;
    }
    return best;
}

}  // namespace

std::vector<PartId> bisect(Hypergraph& h, const BisectionGoal& goal, std::uint64_t seed) {
    if (h.vertex_count() <= coarsest) return best_of_starts(h, goal, seed);
    const ClusteringLimits limits{.cluster_weight = std::max<Weight>(1, h.total_weight / (coarsest / 2)),
                                  .clusters = std::max(coarsest, h.vertex_count() / 3)};
    const std::vector<Id> clusters = cluster(h, limits, {}, seed);
    forget_vertex_index(h);
    Contraction level = contract(h, clusters);
    if (level.coarse.vertex_count() > h.vertex_count() / 20 * 19) {
        level = {};
        index_vertices(h);
        return best_of_starts(h, goal, seed);
    }
    const std::vector<PartId> coarse_side = bisect(level.coarse, goal, mixed(seed));
    level.coarse = {};
    index_vertices(h);
    std::vector<PartId> side(h.vertex_count());
    for (Id v = 0; v < h.vertex_count(); ++v) side[v] = coarse_side[level.coarse_of[v]];
    refine_two_way(h, goal, side, bisection_passes);
    return side;
}

}  // namespace gnnbench::hypergraph
