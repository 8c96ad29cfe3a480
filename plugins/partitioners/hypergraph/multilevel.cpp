// Direct k-way multilevel partitioning (Karypis & Kumar, "Multilevel k-way Hypergraph Partitioning", DAC 1999), with iterated
// cycles (Walshaw, "Multilevel Refinement for Combinatorial Optimisation Problems", Ann. Oper. Res. 131 (2004)).
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

class Multilevel {
public:
    Multilevel(const Hypergraph& h, PartId parts, Weight limit, const Preset& preset, std::uint64_t seed)
        : h_(h), parts_(parts), limit_(limit), preset_(preset), seed_(seed) {}

    std::vector<PartId> run() {
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

    /// Clusters and contracts until few vertices are left; given parts, only inside them, and takes the parts along.
    void coarsen(std::vector<PartId> side) {
        const Id enough = std::max<Id>(preset_.vertices_per_part * static_cast<Id>(parts_), 1000);
        const Weight heaviest = std::max<Weight>(1, h_.total_weight / enough);
        while (coarsest().vertex_count() > enough) {
            const Hypergraph& fine = coarsest();
            const Id vertices = fine.vertex_count();
            const ClusteringLimits limits{.cluster_weight = heaviest,
                                          .clusters = std::max(enough, static_cast<Id>(vertices / preset_.shrink)),
                                          .net_size = preset_.net_size,
                                          .rounds = preset_.clustering_rounds};
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
        refine_jet(partition, limit_, preset_.jet);
        part_of_ = std::move(partition).take();
    }

    /// Where rows are few for their weights, moves alone may not balance the parts; packing does, and is refined without leaving
    /// the limit.
    void meet_limit() {
        Partitioned partition(h_, parts_, std::move(part_of_));
        std::vector<char> touched(h_.net_count());
        const bool balanced = rebalance(partition, limit_, {}, touched);
        part_of_ = std::move(partition).take();
        if (balanced) return;
        part_of_ = pack(h_, parts_);
        refine(h_);
    }

    const Hypergraph& h_;
    PartId parts_;
    Weight limit_;
    const Preset& preset_;
    std::uint64_t seed_;
    std::vector<Contraction> levels_;  ///< finest first
    std::vector<PartId> part_of_;      ///< of the coarsest level's vertices
};

}  // namespace

std::vector<PartId> partition_multilevel(const Hypergraph& h, PartId parts, Weight limit, const Preset& preset,
                                         std::uint64_t seed) {
    return Multilevel(h, parts, limit, preset, seed).run();
}

}  // namespace gnnbench::hypergraph
