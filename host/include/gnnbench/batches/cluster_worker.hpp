#pragma once
#include <cstdint>
#include <string>

#include <gnnbench/batches/batch.hpp>
#include <gnnbench/batches/batch_training.hpp>
#include <gnnbench/batches/consensus.hpp>
#include <gnnbench/batches/source.hpp>
#include <gnnbench/params.hpp>
#include <gnnbench/strategy.hpp>

/// Shared by the strategies that train on batches of clusters: Cluster-GCN on one device, and the workers of
/// AllReduce-GCN and of both gossip algorithms, each with a model of its own.

namespace gnnbench {

/// Declared by each of them.
inline constexpr ParamDecl cluster_parameters[] = {
    {"clusters", ParamType::integer, "40", 1, 1 << 24, nullptr,
     "n: subgraphs that the partitioner cuts the graph into"},
    {"clusters_per_batch", ParamType::integer, "1", 1, 1 << 24, nullptr,
     "q: clusters of a batch, with the edges between them"},
    {"shuffle", ParamType::boolean, "true", 0, 0, nullptr,
     "draw the order of the clusters anew for each epoch; else batches repeat in the clusters' order"},
    {"diagonal_enhancement", ParamType::real, "0", 0, 1e6, nullptr,
     "λ: a batch's normalised matrix has its diagonal multiplied by 1 + λ (Cluster-GCN, equation 11)"},
};

/// And by those that average.
inline constexpr ParamDecl averaging_parameters[] = {
    {"averaging_interval", ParamType::integer, "1", 1, 1 << 30, nullptr,
     "batches that a worker trains from one averaging to the next"},
    {"average", ParamType::choice, "gradients", 0, 0, "gradients|weights",
     "what is averaged: gradients of the current batch, as printed, or weights"},
};

/// Declarations one after another, as a plugin exports them.
template <std::size_t N>
struct ParamDecls {
    ParamDecl of[N];
};
template <std::size_t... N>
constexpr ParamDecls<(N + ...)> joined(const ParamDecl (&... lists)[N]) {
    ParamDecls<(N + ...)> all{};
    std::size_t at = 0;
    const auto append = [&](const auto& list) {
        for (const ParamDecl& p : list) all.of[at++] = p;
    };
    (append(lists), ...);
    return all;
}

/// One part for each cluster.
PartitionNeed clusters_needed(const Setting& setting);

/// The batches of a problem whose index has the clusters, divided among `workers` for good or, with 1, not.
ClusterBatches cluster_batches(const Problem& problem, std::int64_t workers = 1);

/// What trains one worker's model.
class ClusterWorker {
public:
    /// All of `problem` and `rank` outlive it. Collective.
    ClusterWorker(const Problem& problem, Rank rank, std::int64_t workers = 1);

    /// With the batches of cluster_batches(problem, workers).
    static std::int64_t stated_memory(const Problem& problem, std::int64_t element_bytes, bool averages,
                                      std::int64_t workers = 1);

    std::int64_t batches() const { return source_.batches(); }
    std::int64_t epoch_of(std::int64_t item) const { return source_.epoch_of(item); }
    /// Train vertices of an item.
    std::int64_t samples(std::int64_t item) const;

    /// Gradients of an item's batch; `next` is prepared meanwhile, unless it is negative.
    Step compute_gradient(std::int64_t item, std::int64_t next);
    /// The same; `ready` is called within the backward pass, as Network::backward does.
    Step compute_gradient(std::int64_t item, std::int64_t next, const Network::GradientsReady& ready);
    BatchTraining& training() { return training_; }
    const BatchTraining& training() const { return training_; }
    BestLocalModel& judge() { return judge_; }
    /// "batches prepared ahead: 117 of 120"
    std::string notes() const;

private:
    Problem problem_;
    ClusterBatches source_;
    BatchMaker maker_;
    BatchTraining training_;
    BestLocalModel judge_;
    PreparedAhead<Batch> loader_;
    std::vector<std::int64_t> train_vertices_;  ///< by cluster
};

}  // namespace gnnbench
