// Cluster-GCN on one device. W.-L. Chiang, X. Liu, S. Si, Y. Li, S. Bengio, C.-J. Hsieh, "Cluster-GCN", KDD 2019,
// Algorithm 1; as the baseline of the thesis on GossipGCN: its Algorithms 1 and 2.
//
//   G_1 … G_n   the clusters: subgraphs that the partitioner makes, q of them a batch
#include <fmt/format.h>

#include <gnnbench/batches/cluster_worker.hpp>

namespace gnnbench {
namespace {

class ClusterTrainer final : public CollectiveTrainer {
public:
    ClusterTrainer(const Problem& p, Rank rank) : worker_(p, rank) {}

    std::int64_t steps(std::int64_t) const override { return worker_.batches(); }
    Step train_step(std::int64_t epoch, std::int64_t step) override {
        const std::int64_t item = epoch * worker_.batches() + step;
        const Step done = worker_.compute_gradient(item, item + 1);  // 5, 6
        worker_.training().update();                                 // 7
        return done;
    }
    Score evaluate() override { return worker_.judge().score(weights()); }
    ModelWeights weights() override { return worker_.training().weights(); }
    ModelWeights gradients() override { return worker_.training().weight_gradients(); }
    OwnedRows embeddings() override { return worker_.judge().embeddings(weights()); }
    std::string notes() const override { return worker_.notes(); }

private:
    ClusterWorker worker_;
};

class ClusterGcn final : public Strategy {
public:
    std::string approximation(const Params&) const override {
        return "each step has the gradient of one batch, and edges between batches are left out";
    }
    std::string why_unsupported(const Setting& s) const override {
        if (s.ranks != 1) return fmt::format("trains on one device; {} ranks given", s.ranks);
        return batches_why_unsupported(s);
    }
    bool trains_on_batches() const override { return true; }
    PartitionNeed partition_need(const Setting& s) const override { return clusters_needed(s); }
    StatedVolume stated_volume(const Problem&, int, std::int64_t, std::int64_t) const override { return {}; }
    std::int64_t stated_memory(const Problem& p, int, std::int64_t element_bytes) const override {
        return ClusterWorker::stated_memory(p, element_bytes, false);
    }
    AnyTrainer make_trainer(const Problem& p, Rank rank) const override {
        return std::make_unique<ClusterTrainer>(p, rank);
    }
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(strategy, gnnbench::ClusterGcn, "cluster-gcn", "1.0.0",
                "Cluster-GCN: one device, batches of clusters (Chiang et al., KDD 2019)",
                gnnbench::cluster_parameters)
