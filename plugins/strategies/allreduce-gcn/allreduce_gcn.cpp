// AllReduce-GCN: synchronous data parallelism on batches of clusters.
// The thesis on GossipGCN, Algorithm 3, and Algorithm 4 with an averaging interval.
//
//   G_1 … G_n   the clusters, q of them a batch; step s of an epoch gives batch s·p + r to worker r
// Line 4 (5): each worker has n/p clusters of its own, unless `division: shuffled`.
#include <string_view>

#include <fmt/format.h>

#include <gnnbench/batches/cluster_worker.hpp>
#include <gnnbench/training/stated_volume.hpp>

#include "gradient_buckets.hpp"

namespace gnnbench {
namespace {

/// Among how many workers clusters are divided for the whole training; 1: anew in each epoch.
std::int64_t divided_among(const Params& params, int ranks) {
    return params.choice("division") == "fixed" ? ranks : 1;
}

/// What a problem and its parameters fix of the rounds: an epoch has ⌈batches ÷ p⌉ steps.
struct Rounds {
    std::int64_t batches = 1, workers = 1, interval = 1;
    explicit Rounds(const Problem& p)
        : batches(cluster_batches(p, divided_among(p.params, p.ranks)).batches()),
          workers(p.ranks),
          interval(p.params.integer("averaging_interval")) {}

    std::int64_t steps() const { return (batches + workers - 1) / workers; }
    /// Worker r's batch in a step, or −1: where p does not divide the batches, the last step leaves the last workers
    /// idle. The first ones have the clusters that are left over, so this holds for both divisions.
    std::int64_t item(std::int64_t epoch, std::int64_t step, std::int64_t r) const {
        const std::int64_t batch = step * workers + r;
        return batch < batches ? epoch * batches + batch : -1;
    }
    /// Workers with a batch.
    std::int64_t busy(std::int64_t step) const { return std::min(workers, batches - step * workers); }
    /// Whether `count` of Algorithm 4, steps since the beginning, is a multiple of the interval.
    bool averages(std::int64_t epoch, std::int64_t step) const {
        return (epoch * steps() + step + 1) % interval == 0;
    }
    std::int64_t averagings(std::int64_t epoch) const {
        return (epoch + 1) * steps() / interval - epoch * steps() / interval;
    }
};

std::vector<allreduce::Bucket> buckets_of(const Problem& p, std::int64_t element_bytes) {
    return allreduce::gradient_buckets(p.model, element_bytes, p.params.real("bucket_mib"));
}

class AllReduceTrainer final : public CollectiveTrainer {
public:
    AllReduceTrainer(const Problem& p, Rank rank)
        : rounds_(p),
          buckets_(buckets_of(p, static_cast<std::int64_t>(size_of(rank.backend.dtype())))),
          averages_weights_(p.params.choice("average") == "weights"),
          by_vertices_(p.params.choice("weighting") == "vertices"),
          rank_(rank),
          worker_(p, rank, divided_among(p.params, p.ranks)) {}

    std::int64_t steps(std::int64_t) const override { return rounds_.steps(); }
    /// Algorithm 4 has workers wait for each other at averagings alone, and an epoch may end without one.
    bool runs_on() const override { return rounds_.interval > 1 && rounds_.workers > 1; }

    Step train_step(std::int64_t epoch, std::int64_t step) override {
        const std::int64_t item = rounds_.item(epoch, step, rank_.world.rank());
        if (!rounds_.averages(epoch, step)) return train_alone(item, next(epoch, step));  // 12
        if (averages_weights_) {
            const Step done = train_alone(item, next(epoch, step));
            average_weights();
            return done;
        }
        return train_together(item, next(epoch, step), share(epoch, step));
    }

    // Between averagings workers differ: the best one's.
    Score evaluate() override { return worker_.judge().score(mine()); }
    ModelWeights weights() override { return worker_.judge().chosen(mine(), mine()); }
    ModelWeights gradients() override {
        return worker_.judge().chosen(mine(), worker_.training().weight_gradients());
    }
    OwnedRows embeddings() override { return worker_.judge().embeddings(mine()); }
    std::string notes() const override { return worker_.notes(); }

private:
    Step train_alone(std::int64_t item, std::int64_t next) {
        if (item < 0) return {.extent = Extent::this_rank};
        const Step done = worker_.compute_gradient(item, next);  // 10, 11
        worker_.training().update();                             // 14
        return done;
    }

    /// A worker without a batch joins with weight 0.
    Step train_together(std::int64_t item, std::int64_t next, double weight) {
        const MatrixView gradients = worker_.training().gradients();
        Step done{.extent = Extent::this_rank};
        if (rounds_.workers == 1) return train_alone(item, next);
        allreduce::BucketAveraging averaging(buckets_, gradients, weight, rank_.backend, rank_.world);
        if (item >= 0)
            done = worker_.compute_gradient(item, next, averaging.starter());  // 10, 11
        else
            rank_.backend.fill(gradients, 0);
        averaging.finish();           // 13
        worker_.training().update();  // 14
        return done;
    }

    void average_weights() {
        if (rounds_.workers == 1) return;
        const MatrixView weights = worker_.training().values();
        rank_.backend.axpby(0, weights, 1.0 / static_cast<double>(rounds_.workers), weights);
        rank_.world.all_reduce_now(weights);
    }

    ModelWeights mine() const { return worker_.training().weights(); }

    /// The item that this worker has after this step's.
    std::int64_t next(std::int64_t epoch, std::int64_t step) const {
        const bool ends = step + 1 == rounds_.steps() || rounds_.item(epoch, step + 1, rank_.world.rank()) < 0;
        return ends ? rounds_.item(epoch + 1, 0, rank_.world.rank())
                    : rounds_.item(epoch, step + 1, rank_.world.rank());
    }

    /// This worker's weight among those with a batch: 1 ÷ their number, or by train vertices.
    double share(std::int64_t epoch, std::int64_t step) const {
        const std::int64_t me = rank_.world.rank(), busy = rounds_.busy(step);
        if (me >= busy) return 0;
        if (!by_vertices_) return 1.0 / static_cast<double>(busy);
        std::int64_t all = 0;
        for (std::int64_t r = 0; r < busy; ++r) all += worker_.samples(rounds_.item(epoch, step, r));
        const std::int64_t own = worker_.samples(rounds_.item(epoch, step, me));
        return all > 0 ? static_cast<double>(own) / static_cast<double>(all) : 0;
    }

    Rounds rounds_;
    std::vector<allreduce::Bucket> buckets_;
    bool averages_weights_, by_vertices_;
    Rank rank_;
    ClusterWorker worker_;
};

class AllReduceGcn final : public Strategy {
public:
    std::string approximation(const Params&) const override {
        return "each step has the gradients of batches, and edges between batches are left out";
    }
    std::string why_unsupported(const Setting& s) const override {
        const bool fixed = s.params.choice("division") == "fixed";
        const std::int64_t q = s.params.integer("clusters_per_batch"), n = s.params.integer("clusters"),
                           dealt = fixed ? n : (n + q - 1) / q;
        if (dealt < s.ranks)
            return fmt::format("{} {} leave some of {} workers without any", dealt, fixed ? "clusters" : "batches",
                               s.ranks);
        if (s.params.real("bucket_mib") > 0 && s.params.choice("average") == "weights")
            return "bucket_mib > 0 averages gradients during the backward pass, and average: weights averages "
                   "weights "
                   "after it; set bucket_mib: 0 or average: gradients";
        if (s.params.choice("weighting") == "vertices" && s.params.choice("average") == "weights")
            return "weighting: vertices is of averaged gradients, and average: weights counts each worker alike; "
                   "set "
                   "weighting: batches or average: gradients";
        return batches_why_unsupported(s);
    }
    bool trains_on_batches() const override { return true; }
    PartitionNeed partition_need(const Setting& s) const override { return clusters_needed(s); }

    StatedVolume stated_volume(const Problem& p, int rank, std::int64_t element_bytes,
                               std::int64_t epoch) const override {
        const Rounds rounds(p);
        VolumeStatement v(element_bytes);
        const std::vector<allreduce::Bucket> buckets = buckets_of(p, element_bytes);
        for (std::int64_t i = 0; i < rounds.averagings(epoch); ++i)
            for (const allreduce::Bucket& b : buckets) v.all_reduce(b.columns, p.ranks, rank);
        const bool same = rounds.steps() % rounds.interval == 0;
        return {v.total(), same ? StatedVolume::Means::every_epoch : StatedVolume::Means::this_epoch};
    }
    std::int64_t stated_memory(const Problem& p, int, std::int64_t element_bytes) const override {
        return ClusterWorker::stated_memory(p, element_bytes, false, divided_among(p.params, p.ranks));
    }
    AnyTrainer make_trainer(const Problem& p, Rank rank) const override {
        return std::make_unique<AllReduceTrainer>(p, rank);
    }
};

constexpr ParamDecl own_parameters[] = {
    {"division", ParamType::choice, "fixed", 0, 0, "fixed|shuffled",
     "each worker keeps n/p clusters for the whole training, as printed, or all are dealt anew in every epoch"},
    {"weighting", ParamType::choice, "batches", 0, 0, "batches|vertices",
     "an averaged gradient is the mean over batches, as printed, or weighted by their train vertices"},
    {"bucket_mib", ParamType::real, "0", 0, 1 << 20, nullptr,
     "all-reduce gradients in buckets of whole layers of at least so many MiB during the backward pass; 0: once "
     "after it"},
};
/// As printed, a worker trains its clusters in their order.
constexpr auto in_printed_order() {
    auto all = joined(cluster_parameters, averaging_parameters, own_parameters);
    for (ParamDecl& p : all.of)
        if (std::string_view(p.name) == "shuffle") {
            p.default_value = "false";
            p.help =
                "draw the order of a worker's clusters, or with division: shuffled of all, anew for each epoch";
        }
    return all;
}
constexpr auto parameters = in_printed_order();

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(strategy, gnnbench::AllReduceGcn, "allreduce-gcn", "3.0.0",
                "AllReduce-GCN: batches of clusters, gradients averaged by all-reduce (thesis on GossipGCN)",
                gnnbench::parameters.of)
