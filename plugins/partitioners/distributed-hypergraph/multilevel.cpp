// Multilevel partitioning over ranks (Sanders & Seemaier, "Distributed Deep Multilevel Graph Partitioning", Euro-Par 2023):
// cluster and contract until one rank can have the rest, partition that, and refine on the way back.
#include "multilevel.hpp"

#include <algorithm>
#include <optional>

#include "clustering.hpp"
#include "coarsest.hpp"
#include "contraction.hpp"
#include "hypergraph/multilevel.hpp"
#include "hypergraph/random.hpp"
#include "jet.hpp"
#include "rebalance.hpp"

namespace gnnbench::distributed {
namespace {

using hypergraph::mixed;

constexpr std::int64_t mesh_shrink = 3, network_shrink = 8;  ///< at most, from one level to the next

class Multilevel {
public:
    Multilevel(const Ranks& ranks, Level level, const Setting& setting)
        : ranks_(ranks), setting_(setting), mesh_(level.mesh) {
        levels_.push_back(std::move(level));
    }

    std::vector<PartId> run() {
        coarsen();
        part_of_ = partition_whole(ranks_, *levels_.back(), setting_.parts, setting_.limit, setting_.most_pins,
                                   mixed(setting_.seed, 1));
        refine();
        while (!numberings_.empty()) {
            part_of_ = asked(ranks_, numberings_.back().first, numberings_.back().coarse_of, part_of_);
            numberings_.pop_back();
            levels_.pop_back();
            restore();
            refine();
        }
        return std::move(part_of_);
    }

private:
    void coarsen() {
        const std::int64_t enough =
            std::max<std::int64_t>(std::int64_t{hypergraph::fast.vertices_per_part} * setting_.parts, 1000);
        while (levels_.back()->vertices.all() > enough + enough / 2 && levels_.back()->pins > setting_.most_pins) {
            const Level& fine = *levels_.back();
            const std::int64_t vertices = fine.vertices.all();
            const ClusteringLimits limits{
                .cluster_weight = std::max<Weight>(1, fine.total_weight / enough),
                .clusters = std::max(enough, vertices / (mesh_ ? mesh_shrink : network_shrink)),
                .net_size = hypergraph::fast.net_size};
            const Clusters clusters = cluster(ranks_, fine, limits, mixed(setting_.seed, levels_.size() + 2));
            if (clusters.count > vertices / 20 * 19) return;
            Numbering next = numbered(ranks_, fine.vertices, clusters);
            // The nets of networks hardly shrink: contracting once more takes less than keeping them.
            const bool drops = !numberings_.empty() && fine.pins * 2 > kept(levels_.size() - 1).pins;
            if (drops) levels_.back()->nets_of.reset();  // contracting asks for pins alone
            std::optional<Level> coarse = contracted(ranks_, fine, next);
            if (drops) levels_.back().reset();
            numberings_.push_back(std::move(next));
            levels_.push_back(std::move(coarse));
        }
    }

    /// The coarsest of the first `levels` levels that has its nets.
    const Level& kept(std::size_t levels) const {
        while (!levels_[levels - 1]) --levels;
        return *levels_[levels - 1];
    }

    /// Brings back what coarsen() dropped of the coarsest level.
    void restore() {
        if (levels_.back()) return;
        Numbering numbering = numberings_.back();
        std::size_t finer = levels_.size() - 1;
        for (; !levels_[finer - 1]; --finer)
            numbering.coarse_of =
                asked(ranks_, numberings_[finer - 2].first, numberings_[finer - 2].coarse_of, numbering.coarse_of);
        levels_.back() = contracted(ranks_, *levels_[finer - 1], numbering);
    }

    void refine() {
        Partitioned partition(ranks_, *levels_.back(), setting_.parts, std::move(part_of_));
        const auto& rounds = mesh_ ? hypergraph::fast.meshes : hypergraph::fast.networks;
        const std::uint64_t seed = mixed(setting_.seed, levels_.size() + 1000);
        useless_rounds_ = std::min(useless_rounds_ + refine_jet(ranks_, partition, setting_.limit,
                                                                std::span(rounds).subspan(useless_rounds_), seed),
                                   rounds.size() - 1);
        if (levels_.size() == 1) {
            rebalance(ranks_, partition, setting_.limit);
            fill_empty_parts(ranks_, partition);
        }
        part_of_ = partition.own_parts();
    }

    const Ranks& ranks_;
    const Setting& setting_;
    bool mesh_;
    std::vector<std::optional<Level>> levels_;  ///< finest first; none where it is contracted again when needed
    std::vector<Numbering> numberings_;         ///< of each level's vertices in the next coarser one
    std::vector<PartId> part_of_;               ///< of own vertices of the coarsest level
    std::size_t useless_rounds_ = 0;            ///< rounds of refinement that were of no use on coarser levels
};

}  // namespace

std::vector<PartId> partition(const Ranks& ranks, Level level, const Setting& setting) {
    return Multilevel(ranks, std::move(level), setting).run();
}

}  // namespace gnnbench::distributed
