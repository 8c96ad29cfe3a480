#include "gossip_strategy.hpp"

#include <fmt/format.h>

#include <gnnbench/batches/processes.hpp>
#include <gnnbench/training/parameters.hpp>
#include <gnnbench/training/stated_volume.hpp>

namespace gnnbench::gossip {
namespace {

/// What a worker does between the protocol's steps.
class WorkerTraining final : public LocalTraining {
public:
    WorkerTraining(ClusterWorker& worker, Communicator& pairs, Backend& backend, MatrixView averaged,
                   MatrixView received, StepObserver& observer, std::int64_t items)
        : worker_(worker),
          pairs_(pairs),
          backend_(backend),
          averaged_(averaged),
          received_(received),
          observer_(observer),
          items_(items) {}

private:
    void compute_gradient(std::int64_t item) override {
        observer_.begins(worker_.epoch_of(item));
        // Where workers keep pace, the next item of this one is as many further as there are workers.
        const std::int64_t likely = item + pairs_.size();
        step_ = worker_.compute_gradient(item, likely < items_ ? likely : -1);
    }
    void average(const Meeting& meeting) override {
        exchange(meeting);
        backend_.axpby(0.5, received_, 0.5, averaged_);
    }
    void update_weights() override {
        worker_.training().update();
        observer_.stepped(step_);
    }
    // Gradients are of no use any more to this worker, weights are.
    void average_in_clean_up(const Meeting& meeting) override {
        exchange(meeting);
        if (averaged_.data == worker_.training().values().data) backend_.axpby(0.5, received_, 0.5, averaged_);
    }

    void exchange(const Meeting& meeting) {
        const RowMessage out{meeting.partner, averaged_}, in{meeting.partner, received_};
        pairs_.exchange_now({&out, 1}, {&in, 1});
        observer_.averaged({meeting.partner, meeting.their_batches - meeting.my_batches});
    }

    ClusterWorker& worker_;
    Communicator& pairs_;
    Backend& backend_;
    MatrixView averaged_, received_;
    StepObserver& observer_;
    std::int64_t items_;
    Step step_;
};

class GossipTrainer final : public IndependentTrainer {
public:
    GossipTrainer(const Problem& p, Rank rank, const Protocol& protocol)
        : protocol_(protocol),
          rank_(rank),
          seed_(p.train.seed),
          interval_(p.params.integer("averaging_interval")),
          worker_(p, rank),
          averaged_(p.params.choice("average") == "weights" ? worker_.training().values()
                                                            : worker_.training().gradients()),
          received_(rank.backend.matrix(1, averaged_.cols)),
          pairs_(rank.world.split(0, rank.world.rank())),
          words_(workers::make_shared_words(rank, protocol.words(rank.world.size()))),
          meetings_(workers::make_pairwise_exchange(rank)) {
        pairs_.separate_wait(false);  // the others have no part in an exchange, nor in a barrier before it
    }

    void train(std::int64_t epochs, StepObserver& observer) override {
        const std::int64_t items = epochs * worker_.batches();
        WorkerTraining training(worker_, pairs_, rank_.backend, averaged_, received_, observer, items);
        RandomStream random(seed_, Draw::gossip, static_cast<std::uint32_t>(rank_.world.rank()));
        record_ = protocol_.train({.workers = rank_.world.size(),
                                   .items = items,
                                   .averaging_interval = interval_,
                                   .schedule = protocol_.schedule},
                                  {.id = rank_.world.rank(),
                                   .words = *words_,
                                   .pairs = *meetings_,
                                   .training = training,
                                   .random = random});
    }
    ModelWeights own_weights() override { return worker_.training().weights(); }
    Score evaluate(const ModelWeights& mine) override { return worker_.judge().score(mine); }
    Score evaluate() override { return evaluate(own_weights()); }
    ModelWeights weights() override { return worker_.judge().chosen(own_weights(), own_weights()); }
    ModelWeights gradients() override {
        return worker_.judge().chosen(own_weights(), worker_.training().weight_gradients());
    }
    OwnedRows embeddings() override { return worker_.judge().embeddings(own_weights()); }
    std::string notes() const override {
        std::string with;
        for (std::size_t w = 0; w < record_.averagings.size(); ++w)
            if (record_.averagings[w] > 0)
                with += fmt::format("{}{} with {}", with.empty() ? "" : ", ", record_.averagings[w], w);
        return fmt::format("{} batches; averagings: {}; {} intervals without a partner; {} retries of locks; {}",
                           record_.batches, with.empty() ? "none" : with, record_.nobody_available,
                           record_.lock_retries, worker_.notes());
    }

private:
    Protocol protocol_;
    Rank rank_;
    std::uint64_t seed_;
    std::int64_t interval_;
    ClusterWorker worker_;
    MatrixView averaged_;  ///< all gradients, or all weights
    Matrix received_;      ///< the partner's
    Communicator pairs_;
    std::unique_ptr<SharedWords> words_;
    std::unique_ptr<PairwiseExchange> meetings_;
    WorkerRecord record_;
};

}  // namespace

std::string GossipStrategy::approximation(const Params& params) const {
    return fmt::format(
        "each step has the gradient of one batch without edges to others, and workers average {} in pairs",
        params.choice("average"));
}

std::string GossipStrategy::why_unsupported(const Setting& s) const { return batches_why_unsupported(s); }

StatedVolume GossipStrategy::stated_volume(const Problem& p, int, std::int64_t element_bytes, std::int64_t) const {
    VolumeStatement v(element_bytes);
    const std::int64_t elements = parameter_elements(p.model);
    std::int64_t averagings = p.ranks > 1 ? cluster_batches(p).batches() : 0;
    if (p.ranks > 1 && protocol(p.params).averages_in_clean_up) ++averagings;
    for (std::int64_t i = 0; i < averagings; ++i) v.exchange(elements, elements);
    return {v.total(), StatedVolume::Means::at_most};
}

std::int64_t GossipStrategy::stated_memory(const Problem& p, int, std::int64_t element_bytes) const {
    return ClusterWorker::stated_memory(p, element_bytes, true);
}

AnyTrainer GossipStrategy::make_trainer(const Problem& p, Rank rank) const {
    return std::make_unique<GossipTrainer>(p, rank, protocol(p.params));
}

}  // namespace gnnbench::gossip
