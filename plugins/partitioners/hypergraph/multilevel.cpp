// Direct k-way multilevel partitioning (Karypis & Kumar, "Multilevel k-way Hypergraph Partitioning", DAC 1999), with
// iterated cycles (Walshaw, "Multilevel Refinement for Combinatorial Optimisation Problems", Ann. Oper. Res. 131
// (2004)).
#include "multilevel.hpp"

#include <algorithm>
#include <numeric>
#include <span>

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
    Multilevel(Hypergraph h, PartId parts, Weight limit, const Preset& preset, std::uint64_t seed)
        : h_(std::move(h)), parts_(parts), limit_(limit), preset_(preset), seed_(seed), mesh_(is_mesh(h_)) {}

    std::vector<PartId> run() {
        std::vector<Id> new_of;
        if (!mesh_) {
            // Inside communities first, so that what belongs together is not torn apart by the order of merging.
            // Meshes have none.
            std::vector<PartId> community = communities();
            new_of = grouped(community);
            reorder(h_, new_of);
            std::vector<PartId> side(community.size());
            for (std::size_t v = 0; v < side.size(); ++v) side[new_of[v]] = community[v];
            community = {};
            coarsen(std::move(side));
        }
        coarsen({});
        part_of_ = bisect_recursively(coarsest(), parts_, limit_, preset_.tries, mixed(seed_, 1));
        uncoarsen();
        for (int cycle = 0; cycle < preset_.cycles; ++cycle) {
            seed_ = mixed(seed_);
            coarsen(part_of_);
            uncoarsen();
        }
        meet_limit();
        if (new_of.empty()) return std::move(part_of_);
        std::vector<PartId> part_of(part_of_.size());
        for (std::size_t v = 0; v < part_of.size(); ++v) part_of[v] = part_of_[new_of[v]];
        return part_of;
    }

private:
    Hypergraph& coarsest() { return levels_.empty() ? h_ : levels_.back().coarse; }

    /// New names of the vertices, one group after another: most nets are of one community, which then is in few cache
    /// lines.
    static std::vector<Id> grouped(std::span<const PartId> group) {
        std::vector<Id> new_of(group.size()), first(group.size() + 1);
        for (const PartId g : group) ++first[static_cast<std::size_t>(g) + 1];
        std::partial_sum(first.begin(), first.end(), first.begin());
        for (std::size_t v = 0; v < group.size(); ++v) new_of[v] = first[static_cast<std::size_t>(group[v])]++;
        return new_of;
    }

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
        while (coarsest().vertex_count() > enough + enough / 2) {
            Hypergraph& fine = coarsest();
            const Id vertices = fine.vertex_count();
            const ClusteringLimits limits{
                .cluster_weight = heaviest,
                .clusters = std::max(enough, vertices / (mesh_ ? mesh_shrink : network_shrink)),
                .net_size = preset_.net_size};
            const std::vector<Id> clusters = cluster(fine, limits, side, mixed(seed_, levels_.size() + 2));
            forget_vertex_index(fine);
            Contraction level = contract(fine, clusters);
            if (level.coarse.vertex_count() > vertices / 20 * 19) {
                index_vertices(fine);
                break;
            }
            if (!side.empty()) {
                std::vector<PartId> coarse_side(level.coarse.vertex_count());
                for (Id v = 0; v < vertices; ++v) coarse_side[level.coarse_of[v]] = side[v];
                side = std::move(coarse_side);
            }
            add(std::move(level));
        }
        part_of_ = std::move(side);
    }

    void add(Contraction next) {
        if (!levels_.empty()) {
            Contraction& last = levels_.back();
            if (std::size_t{last.coarse.vertex_count()} * 5 > last.coarse_of.size() * 4) {
                // A level of its own is not worth refining.
                for (Id& v : last.coarse_of) v = next.coarse_of[v];
                last.coarse = std::move(next.coarse);
                return;
            }
            // The nets of networks hardly shrink: contracting once more takes less than keeping them.
            if (last.coarse.pin_count() * 2 > kept(levels_.size() - 1).pin_count()) last.coarse = {};
        }
        levels_.push_back(std::move(next));
    }

    /// The coarsest of the first `levels` levels whose nets are kept.
    const Hypergraph& kept(std::size_t levels) const {
        while (levels > 0 && levels_[levels - 1].coarse.vertex_count() == 0) --levels;
        return levels == 0 ? h_ : levels_[levels - 1].coarse;
    }

    /// Brings back what add() and coarsen() dropped of the coarsest level.
    void restore() {
        if (levels_.empty() || levels_.back().coarse.vertex_count() > 0) {
            index_vertices(coarsest());
            return;
        }
        std::vector<Id> coarse_of = levels_.back().coarse_of;
        std::size_t finer = levels_.size() - 1;
        for (; finer > 0 && levels_[finer - 1].coarse.vertex_count() == 0; --finer) {
            std::vector<Id> composed = levels_[finer - 1].coarse_of;
            for (Id& v : composed) v = coarse_of[v];
            coarse_of = std::move(composed);
        }
        const Id vertices = *std::max_element(coarse_of.begin(), coarse_of.end()) + 1;
        levels_.back().coarse = contracted(kept(finer), coarse_of, vertices);
    }

    void uncoarsen() {
        useless_rounds_ = 0;
        refine(coarsest());
        while (!levels_.empty()) {
            std::vector<PartId> finer(levels_.back().coarse_of.size());
            for (std::size_t v = 0; v < finer.size(); ++v) finer[v] = part_of_[levels_.back().coarse_of[v]];
            part_of_ = std::move(finer);
            levels_.pop_back();
            restore();
            refine(coarsest());
        }
    }

    void refine(const Hypergraph& h) {
        Partitioned partition(h, parts_, std::move(part_of_));
        const std::span<const JetRound> rounds = mesh_ ? preset_.meshes : preset_.networks;
        useless_rounds_ = std::min(
            useless_rounds_ + refine_jet(partition, limit_, rounds.subspan(useless_rounds_)), rounds.size() - 1);
        part_of_ = std::move(partition).take();
    }

    /// Where rows are few for their weights, moves alone may not balance the parts; packing does, and is refined
    /// without leaving the limit.
    void meet_limit() {
        std::vector<Weight> weight(static_cast<std::size_t>(parts_));
        for (Id v = 0; v < h_.vertex_count(); ++v)
            weight[static_cast<std::size_t>(part_of_[v])] += h_.vertex_weight[v];
        if (*std::max_element(weight.begin(), weight.end()) <= limit_) return;
        Partitioned partition(h_, parts_, std::move(part_of_));
        std::vector<char> touched(h_.net_count());
        const bool balanced = rebalance(partition, limit_, {}, touched);
        part_of_ = std::move(partition).take();
        if (balanced) return;
        useless_rounds_ = 0;
        part_of_ = pack(h_, parts_);
        refine(h_);
    }

    static constexpr int community_rounds = 4;
    static constexpr Id community_net = 16;  ///< larger nets say little about communities, and cost |e|² each
    static constexpr Id mesh_shrink = 3, network_shrink = 8;  ///< at most, from one level to the next

    Hypergraph h_;  ///< like all levels but the coarsest, without the vertices' index
    PartId parts_;
    Weight limit_;
    const Preset& preset_;
    std::uint64_t seed_;
    bool mesh_;
    std::vector<Contraction>
        levels_;                      ///< finest first; `coarse` is empty where it is contracted again when needed
    std::vector<PartId> part_of_;     ///< of the coarsest level's vertices
    std::size_t useless_rounds_ = 0;  ///< rounds of refinement that were of no use on coarser levels
};

}  // namespace

std::vector<PartId> partition_multilevel(Hypergraph h, PartId parts, Weight limit, const Preset& preset,
                                         std::uint64_t seed) {
    return Multilevel(std::move(h), parts, limit, preset, seed).run();
}

}  // namespace gnnbench::hypergraph
