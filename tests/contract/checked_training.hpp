#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <gnnbench/strategy.hpp>
#include <gnnbench/transport.hpp>

#include "worker/replicas.hpp"
#include "worker/verify/verification.hpp"
#include "mpi/mpi.hpp"

/// One strategy at work on all ranks, with everything about it watched that must hold for every strategy.
namespace gnnbench::contract {

/// What a few epochs showed.
struct Outcome {
    std::string skipped;            ///< why it did not run
    Agreement agreement;            ///< meaningful on rank 0, and where approximation is empty
    std::string volume_difference;  ///< over all ranks: stated against counted, per operation and content
    Traffic sum;                    ///< over ranks and epochs
    std::int64_t allocations_in_epochs = 0;
    std::int64_t copies_in_epochs = 0;  ///< of matrices, on this rank
    bool gathers = false;               ///< an epoch has an all-gather
    std::int64_t kept = 0;  ///< sets of rows that epochs may have kept for later ones: a layer's, each epoch
    std::int64_t allocations_at_setup = 0;
    std::int64_t bytes_at_setup = 0,
                 stated_bytes = 0;  ///< of this rank; prepared sparse matrices in the former alone
    std::string approximation;
    std::string evaluation_problem;  ///< of accuracy and embeddings; float64 alone is asked
    ReplicaSpread replicas;          ///< of every epoch's gradients and the last weights: the largest
    ModelWeights weights;            ///< after the last epoch, this rank's copy
};

class CheckedTraining {
public:
    /// Collective. All three must outlive it. separate_wait: see Communicator. `world`: all ranks.
    CheckedTraining(const Strategy& strategy, const Problem& problem, Backend& backend, bool separate_wait = false,
                    ProcessGroup world = mpi_world())
        : strategy_(strategy),
          problem_(problem),
          backend_(backend),
          world_(std::move(world)),
          comm_(backend.connect(world_), backend, counter_) {
        comm_.separate_wait(separate_wait);
        const auto before = backend.memory().allocations;
        const auto bytes_before = backend.memory().current_bytes;
        trainer_ = strategy.make_collective_trainer(problem, {backend, comm_, world_});
        allocations_at_setup_ = backend.memory().allocations - before;
        bytes_at_setup_ = backend.memory().current_bytes - bytes_before;
    }

    /// From epoch 0 on. `reference` is asked on rank 0, and only where the strategy is exact.
    Outcome train(std::int64_t epochs, const std::function<const ReferenceResult&()>& reference) {
        Outcome o{.skipped = {},
                  .agreement = agreement_for(backend_.dtype()),
                  .volume_difference = {},
                  .sum = {},
                  .allocations_at_setup = allocations_at_setup_,
                  .bytes_at_setup = bytes_at_setup_,
                  .stated_bytes = 0,
                  .approximation = strategy_.approximation(problem_.params),
                  .evaluation_problem = {},
                  .replicas = {},
                  .weights = {}};
        const auto compare_copies = [&](const ModelWeights& mine, const std::string& what) {
            const ReplicaSpread spread = replica_spread(mine, world_);
            if (!(spread.error <= o.replicas.error)) o.replicas = {spread.error, what + " " + spread.worst};
        };
        const auto element_bytes = static_cast<std::int64_t>(size_of(backend_.dtype()));
        o.stated_bytes = strategy_.stated_memory(problem_, world_.rank(), element_bytes);
        std::string differs;
        Traffic sum;
        for (std::int64_t e = 0; e < epochs; ++e) {
            counter_.take();  // reading gradients of sharded weights back communicates, outside the epoch
            const auto allocated = backend_.memory().allocations;
            backend_.trace().begin_epoch();
            const double loss = trainer_->train_epoch(e).loss;
            backend_.trace().end_epoch();
            o.allocations_in_epochs += backend_.memory().allocations - allocated;
            for (const Span& span : backend_.trace().spans())
                o.copies_in_epochs += std::string_view(span.operation) == "copy";
            counted_ = counter_.take();
            o.gathers = o.gathers || counted_.contains({CommOp::all_gather, Content::payload});
            if (differs.empty())
                differs = difference(strategy_.stated_volume(problem_, world_.rank(), element_bytes, e), counted_);
            for (const auto& [key, t] : counted_) sum += t;
            o.kept += std::ssize(trainer_->row_ages());
            const ModelWeights gradients = trainer_->gradients();
            compare_copies(gradients, "gradient of epoch " + std::to_string(e));
            if (world_.rank() == 0 && o.approximation.empty())
                o.agreement.compare(e, loss, gradients, reference());
        }
        o.weights = trainer_->weights();
        compare_copies(o.weights, "weights");
        const auto all = world_.all_gather(differs);
        for (std::size_t r = 0; r < all.size(); ++r)
            if (!all[r].empty()) o.volume_difference += "rank " + std::to_string(r) + ": " + all[r];
        const auto sums =
            world_.sum({static_cast<double>(sum.sent_bytes), static_cast<double>(sum.received_bytes)});
        o.sum = {static_cast<std::int64_t>(sums[0]), static_cast<std::int64_t>(sums[1]), 0};
        return o;
    }

    CollectiveTrainer& trainer() { return *trainer_; }
    /// Of the device, that making the trainer took.
    std::int64_t bytes_at_setup() const { return bytes_at_setup_; }
    /// Of this rank: the last epoch's, and what a forward pass for accuracy moves. The latter is collective.
    const Volume& last_epoch() const { return counted_; }
    /// This rank's since it was last asked.
    Volume counted() { return counter_.take(); }
    Volume evaluation() {
        counter_.take();
        trainer_->evaluate();
        return counter_.take();
    }

private:
    const Strategy& strategy_;
    const Problem& problem_;
    Backend& backend_;
    ProcessGroup world_;
    VolumeCounter counter_;
    Communicator comm_;
    std::unique_ptr<CollectiveTrainer> trainer_;
    std::int64_t allocations_at_setup_ = 0, bytes_at_setup_ = 0;
    Volume counted_;
};

}  // namespace gnnbench::contract
