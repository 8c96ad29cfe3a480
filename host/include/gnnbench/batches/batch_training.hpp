#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include <gnnbench/batches/batch.hpp>
#include <gnnbench/batches/vertices.hpp>
#include <gnnbench/strategy.hpp>
#include <gnnbench/training/network.hpp>

namespace gnnbench {

/// Room for the largest batch.
struct BatchSize {
    std::int64_t rows = 0, nonzeros = 0;
};

/// One worker's model, trained on batches: nothing but the current batch's subgraph is on the device.
class BatchTraining {
public:
    /// All of `problem` and `rank` outlive it. Every order of products is the narrowest, as `serial`'s.
    BatchTraining(const Problem& problem, Rank rank, const BatchSize& most);

    static void state_memory(MemoryStatement& m, const Problem& problem, const BatchSize& most);

    /// Gradients of the mean loss over the batch's train vertices; 0 where it has none. `step` keys dropout. Where
    /// this rank is declared slow, it sleeps afterwards.
    Step compute_gradient(const Batch& batch, std::int64_t step);
    /// The same; `ready` is called within the backward pass, as Network::backward does.
    Step compute_gradient(const Batch& batch, std::int64_t step, const Network::GradientsReady& ready);
    /// One optimizer step with the gradients as they are now.
    void update() { network_.parameters().step(); }

    /// All gradients, and all parameters, as one row: what is averaged with others.
    MatrixView gradients() const { return network_.parameters().all_gradients(); }
    MatrixView values() const { return network_.parameters().all_values(); }
    ModelWeights weights() const { return network_.parameters().weights(); }
    ModelWeights weight_gradients() const { return network_.parameters().gradients(); }

private:
    void load(const Batch& batch);

    const Problem problem_;
    Rank rank_;
    Backend& backend_;
    Network network_;
    BatchSize most_;
    DeviceVertices vertices_;
    /// Â on the device; its transpose too, if that differs.
    struct DeviceCsr {
        Array<std::int64_t> indptr;
        Array<std::int32_t> indices;
        Matrix values;
        CsrView view;
    };
    static void state_csr_memory(MemoryStatement& m, const BatchSize& most);
    DeviceCsr room_for_csr();
    void load(const Csr& from, DeviceCsr& to);
    DeviceCsr forward_, backward_;
    bool symmetric_;
    Array<double> loss_;
};

/// Whether batches of this problem have an Â that equals its transpose, so that it is on the device once.
bool symmetric_batches(const Problem& problem);

/// A model's forward pass over the whole graph on one device, as `serial` makes it: how workers' models are judged.
/// It is built, used and freed again; an epoch's memory has no part of it.
class WholeGraphModel {
public:
    /// `problem`'s partition is not used. `alone`: a communicator and a group of this rank only. All outlive it.
    WholeGraphModel(const Problem& problem, const ModelWeights& weights, Rank alone);
    ~WholeGraphModel();
    Score score() { return trainer_->evaluate(); }
    OwnedRows embeddings() { return trainer_->embeddings(); }

private:
    IndexMap index_;
    Params no_params_;
    std::unique_ptr<CollectiveTrainer> trainer_;
};

}  // namespace gnnbench
