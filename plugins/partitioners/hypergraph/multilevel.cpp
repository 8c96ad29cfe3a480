// Direct k-way multilevel partitioning (Karypis & Kumar, "Multilevel k-way Hypergraph Partitioning", DAC 1999), with
// iterated cycles (Walshaw, "Multilevel Refinement for Combinatorial Optimisation Problems", Ann. Oper. Res. 131
// (2004)).
#include "multilevel.hpp"

#include <algorithm>

#include "balance.hpp"
#include "clustering.hpp"
#include "contraction.hpp"
#include "random.hpp"
#include "rebalance.hpp"
#include "recursive_bisection.hpp"

namespace gnnbench::hypergraph {
namespace {

/// No net has more than four times the mean number of pins, and no vertex more than four times that of nets: of a
/// directed graph either may be even alone.
bool is_mesh(const Hypergraph& h) {
    std::int64_t pins = 0, nets = 0;
    for (Id e = 0; e < h.net_count(); ++e) pins = std::max<std::int64_t>(pins, h.net_size(e));
    for (Id v = 0; v < h.vertex_count(); ++v) nets = std::max(nets, std::ssize(h.nets_of(v)));
    return pins * h.net_count() <= 4 * h.pin_count() && nets * h.vertex_count() <= 4 * h.pin_count();
}

class Multilevel {
public:
    Multilevel(const Hypergraph& h, PartId parts, Weight limit, const Preset& preset, std::uint64_t seed)
        : h_(h), parts_(parts), limit_(limit), preset_(preset), seed_(seed), mesh_(is_mesh(h)) {}

    std::vector<PartId> run() {
        // Inside communities first, so that what belongs together is not torn apart by the order of merging. Meshes
        // have none.
        if (!mesh_) coarsen(communities());
        coarsen({});
        part_of_ = bisect_recursively(coarsest(), parts_, limit_, preset_.tries, mixed(seed_, 1));
        uncoarsen();
        for (int cycle = 0; cycle < preset_.cycles; ++cycle) {
            seed_ = mixed(seed_);
            coarsen(part_of_);
            uncoarsen();
        }
        meet_limit();
        return std::move(part_of_);
    }

private:
    const Hypergraph& coarsest() const { return levels_.empty() ? h_ : levels_.back().coarse; }

    /// Label propagation to clusters of up to half a part (Heuer & Schlag, "Improving Coarsening Schemes for Hypergraph
    /// Partitioning by Exploiting Community Structure", SEA 2017).
    std::vector<PartId> communities() const {
        const ClusteringLimits limits{.cluster_weight = std::max<Weight>(1, h_.total_weight / parts_ / 2),
                                      .clusters = 1,
                                      .net_size = community_net,
                                      .rounds = community_rounds};
        const std::vector<Id> found = cluster(h_, limits, {}, mixed(seed_, 0));
        return {found.begin(), found.end()};
    }

    /// Clusters and contracts until few vertices are left; given parts, only inside them, and takes the parts along.
    void coarsen(std::vector<PartId> side) {
        const Id enough = std::max<Id>(preset_.vertices_per_part * static_cast<Id>(parts_), 1000);
        const Weight heaviest = std::max<Weight>(1, h_.total_weight / enough);
        while (coarsest().vertex_count() > enough) {
            const Hypergraph& fine = coarsest();
            const Id vertices = fine.vertex_count();
            const ClusteringLimits limits{
                .cluster_weight = heaviest,
                .clusters = std::max(enough, vertices / (mesh_ ? mesh_shrink : network_shrink)),
                .net_size = preset_.net_size};
            Contraction level = contract(fine, cluster(fine, limits, side, mixed(seed_, levels_.size() + 2)));
            if (level.coarse.vertex_count() > vertices / 20 * 19) break;
            if (!side.empty()) {
                std::vector<PartId> coarse_side(level.coarse.vertex_count());
                for (Id v = 0; v < vertices; ++v) coarse_side[level.coarse_of[v]] = side[v];
                side = std::move(coarse_side);
            }
            levels_.push_back(std::move(level));
        }
        part_of_ = std::move(side);
    }

    void uncoarsen() {
        refine(coarsest());
        while (!levels_.empty()) {
            std::vector<PartId> finer(levels_.back().coarse_of.size());
            for (std::size_t v = 0; v < finer.size(); ++v) finer[v] = part_of_[levels_.back().coarse_of[v]];
            part_of_ = std::move(finer);
            levels_.pop_back();
            refine(coarsest());
        }
    }

    void refine(const Hypergraph& h) {
        Partitioned partition(h, parts_, std::move(part_of_));
        refine_jet(partition, limit_, mesh_ ? preset_.meshes : preset_.networks);
        part_of_ = std::move(partition).take();
    }

    /// Where rows are few for their weights, moves alone may not balance the parts; packing does, and is refined
    /// without leaving the limit.
    void meet_limit() {
        Partitioned partition(h_, parts_, std::move(part_of_));
        std::vector<char> touched(h_.net_count());
        const bool balanced = rebalance(partition, limit_, {}, touched);
        part_of_ = std::move(partition).take();
        if (balanced) return;
        part_of_ = pack(h_, parts_);
        refine(h_);
    }

    static constexpr int community_rounds = 4;
    static constexpr Id community_net = 16;  ///< larger nets say little about communities, and cost |e|² each
    static constexpr Id mesh_shrink = 3, network_shrink = 8;  ///< at most, from one level to the next

    const Hypergraph& h_;
    PartId parts_;
    Weight limit_;
    const Preset& preset_;
    std::uint64_t seed_;
    bool mesh_;
    std::vector<Contraction> levels_;  ///< finest first
    std::vector<PartId> part_of_;      ///< of the coarsest level's vertices
};

}  // namespace

std::vector<PartId> partition_multilevel(const Hypergraph& h, PartId parts, Weight limit, const Preset& preset,
                                         std::uint64_t seed) {
    return Multilevel(h, parts, limit, preset, seed).run();
}

}  // namespace gnnbench::hypergraph
