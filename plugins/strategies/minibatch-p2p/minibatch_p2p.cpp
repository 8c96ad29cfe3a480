// Parallel training on sampled mini-batches over a partition of the whole graph.
// G. V. Demirci, A. Haldar, H. Ferhatosmanoglu, "Scalable Graph Convolutional Network Training on Distributed-Memory
// Systems", VLDB 2023: Algorithms 1 and 2 on the subgraph G' of each mini-batch (section 4.3.3). The paper's letters:
//
//   G' = (V', E')   a mini-batch's subgraph; P_m has the rows of V' that it owns in the partition Π of the whole graph
//   A_m, H_m, X_mn  as demirci-p2p has them, of G'
#include <fmt/format.h>

#include <gnnbench/batches/ahead.hpp>
#include <gnnbench/batches/batch.hpp>
#include <gnnbench/batches/sampled.hpp>
#include <gnnbench/training/parameters.hpp>
#include <gnnbench/training/row_parallel.hpp>
#include <gnnbench/usize.hpp>

#include "share.hpp"
#include "share_training.hpp"

namespace gnnbench::minibatch {
namespace {

/// What a rank draws follows from the problem alone, so that all ranks draw the same.
std::unique_ptr<BatchSource> make_source(const Problem& p) {
    return make_sampled_source(p.dataset, p.params, p.model.layers(), p.train.seed);
}

/// A single item: all vertices.
VertexSamples whole_graph(const Problem& p) {
    const std::int64_t n = p.dataset.graph.vertices();
    return {n, {.batch_vertices = std::max<std::int64_t>(n, 1)}};
}

class MinibatchTrainer final : public CollectiveTrainer {
public:
    MinibatchTrainer(const Problem& p, Rank rank)
        : problem_(p),
          rank_(rank),
          source_(make_source(problem_)),
          maker_(problem_, *source_, rank.world.rank()),
          training_(problem_, rank, share_room(problem_, rank.world.rank(), *source_),
                    p.initial_weights ? *p.initial_weights : initial_weights(p.model, p.train.seed)),
          ahead_([this](std::int64_t item) { return maker_.make(item); }, rank.backend.trace()) {}

    std::int64_t steps(std::int64_t) const override { return source_->batches(); }
    Step train_step(std::int64_t epoch, std::int64_t step) override {
        const std::int64_t item = epoch * source_->batches() + step;
        const std::unique_ptr<BatchShare> share = ahead_.take(item);
        ahead_.expect(item + 1);
        return training_.train(*share, item);
    }

    Score evaluate() override { return on_whole_graph(&ShareTraining::evaluate); }
    ModelWeights weights() override { return training_.parameters().weights(); }
    ModelWeights gradients() override { return training_.parameters().gradients(); }
    OwnedRows embeddings() override { return on_whole_graph(&ShareTraining::embeddings); }
    std::string notes() const override {
        return fmt::format("batches prepared ahead: {} of {}", ahead_.foreseen(), ahead_.taken());
    }

private:
    /// The whole graph is the batch of all vertices: this rank's share of it is made, used and freed again.
    template <class Result>
    Result on_whole_graph(Result (ShareTraining::*use)(const BatchShare&)) {
        const VertexSamples all = whole_graph(problem_);
        const Part me = rank_.world.rank();
        ShareTraining model(problem_, rank_, share_room(problem_, me, all), weights());
        return (model.*use)(*ShareMaker(problem_, all, me).make(0));
    }

    const Problem problem_;
    Rank rank_;
    std::unique_ptr<BatchSource> source_;
    ShareMaker maker_;
    ShareTraining training_;
    PreparedAhead<BatchShare> ahead_;
};

class MinibatchP2p final : public Strategy {
public:
    std::string approximation(const Params& params) const override {
        return params.choice("sampler") == "vertices"
                   ? "each step has the gradient of a sample of vertices, without edges to others"
                   : "each step has the gradient of some train vertices with a sample of their neighbours";
    }
    std::string why_unsupported(const Setting& s) const override { return batches_why_unsupported(s); }
    bool trains_on_batches() const override { return true; }

    // The sum over the epoch's steps of what demirci-p2p states of their batches.
    StatedVolume stated_volume(const Problem& p, int rank, std::int64_t element_bytes,
                               std::int64_t epoch) const override {
        const std::unique_ptr<BatchSource> source = make_source(p);
        const LayerPlan plan = aggregate_first_plan(p);
        SubgraphMaker subgraphs(p.dataset.graph);
        Volume total;
        for (std::int64_t step = 0; step < source->batches() && p.ranks > 1; ++step) {
            const std::int64_t item = epoch * source->batches() + step;
            const DividedBatch batch = divide(subgraphs.induced(source->vertices(item)), p.index);
            const BlockCounts counts(Adjacency(batch.subgraph.view(), p.model), batch.index, rank);
            const auto product = [&](Direction d, std::int64_t width) {
                return halo_volume({counts, rank, p.index.parts(), d}, BackwardExchange::gather,
                                   CommOp::point_to_point, width * element_bytes);
            };
            total += row_parallel_volume(plan, product, p.index.parts(), rank, element_bytes);
        }
        return {total, StatedVolume::Means::this_epoch};
    }
    std::int64_t stated_memory(const Problem& p, int rank, std::int64_t element_bytes) const override {
        MemoryStatement m(element_bytes);
        ShareTraining::state_memory(m, p, share_room(p, rank, *make_source(p)));
        return m.bytes();
    }
    AnyTrainer make_trainer(const Problem& p, Rank rank) const override {
        return std::make_unique<MinibatchTrainer>(p, rank);
    }
};

constexpr ParamDecl parameters[] = {
    {"sampler", ParamType::choice, "vertices", 0, 0, "vertices|neighbours",
     "what a batch is: a uniform sample of vertices, or train vertices with sampled neighbours"},
    {"batch_vertices", ParamType::integer, "1000", 1, 1 << 30, nullptr,
     "vertices of a batch; of sampler neighbours, its train vertices"},
    {"fan_out", ParamType::integer, "10", 1, 1024, nullptr,
     "sampler neighbours: how many are drawn of each vertex, once for each layer"},
};

}  // namespace
}  // namespace gnnbench::minibatch

GNNBENCH_PLUGIN(strategy, gnnbench::minibatch::MinibatchP2p, "minibatch-p2p", "1.0.0",
                "sampled mini-batches over a partition, point-to-point messages (Demirci et al., VLDB 2023)",
                gnnbench::minibatch::parameters)
