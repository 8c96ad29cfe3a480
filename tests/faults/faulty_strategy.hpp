#pragma once
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <vector>

#include <gnnbench/strategy.hpp>
#include <gnnbench/transport.hpp>

#include "check/bounds.hpp"
#include "faults/faults.hpp"
#include "worker/verify/verification.hpp"

namespace gnnbench::faults {

/// A problem whose vertices all have a self-loop of weight 2, and everything else as another, which must outlive it.
class TwiceLooped {
public:
    explicit TwiceLooped(const Problem& p)
        : problem_{data_,   p.index,    p.model,   p.train, p.params, p.initial_weights,
                   p.ranks, p.slowdown, p.threads, p.cost,  p.shared} {
        const GraphView& g = p.dataset.graph;
        for (std::int64_t v = 0; v < g.vertices(); ++v) {
            std::map<std::int32_t, float> row;
            for (auto e = usize(g.indptr[usize(v)]); e < usize(g.indptr[usize(v) + 1]); ++e)
                row[g.indices[e]] = g.weights.empty() ? 1 : g.weights[e];
            row[static_cast<std::int32_t>(v)] = 2;
            for (const auto& [column, weight] : row) {
                indices_.push_back(column);
                weights_.push_back(weight);
            }
            indptr_.push_back(std::ssize(indices_));
        }
        data_ = p.dataset;
        data_.graph = {.indptr = indptr_, .indices = indices_, .weights = weights_, .symmetric = g.symmetric};
    }
    TwiceLooped(const TwiceLooped&) = delete;
    TwiceLooped& operator=(const TwiceLooped&) = delete;
    const Problem& problem() const { return problem_; }

private:
    std::vector<std::int64_t> indptr_{0};
    std::vector<std::int32_t> indices_;
    std::vector<float> weights_;
    DatasetView data_;
    Problem problem_;
};

/// A trainer with one fault around it.
class FaultyTrainer final : public CollectiveTrainer {
public:
    /// `train` must outlive it. `looped`: what `inner` trains, or nothing.
    FaultyTrainer(std::unique_ptr<CollectiveTrainer> inner, Rank rank, const TrainSpec& train, Injected injected,
                  std::unique_ptr<TwiceLooped> looped)
        : looped_(std::move(looped)),
          inner_(std::move(inner)),
          rank_(rank),
          train_(train),
          fault_(injected.fault),
          times_(injected.times),
          tolerance_(agreement_for(rank.backend.dtype()).tolerance) {
        if (fault_ == Fault::wasted_buffer || fault_ == Fault::over_sending) buffer_ = rank.backend.matrix(1, 16);
    }

    Step train_step(std::int64_t epoch, std::int64_t) override {
        progress().epoch = epoch;
        if (fault_ == Fault::over_sending) rank_.world.broadcast_now(buffer_, 0);
        if (fault_ == Fault::allocating_epoch) rank_.backend.allocate(64);
        return inner_->train_epoch(epoch);
    }
    Score evaluate() override {
        const Evaluating now;
        Score score = inner_->evaluate();
        if (fault_ == Fault::score_told_wrong && rank_.world.rank() == rank_.world.size() - 1)
            score.of[0] += score.of[0] > 0.5 ? -0.05 : 0.05;
        return score;
    }
    Moments moments() override { return inner_->moments(); }
    ModelWeights weights() override { return inner_->weights(); }
    ModelWeights gradients() override {
        ModelWeights g = inner_->gradients();
        const bool narrow = rank_.backend.dtype() == DType::f32;
        if (fault_ == Fault::copy_differs && rank_.world.rank() == rank_.world.size() - 1) {
            const auto last =
                std::ranges::find_if(g.matrices.rbegin(), g.matrices.rend(),
                                     [](const NamedMatrix& m) { return m.role != ParameterRole::bias; });
            largest(last->values) += times_ * tolerance_ * norm(last->values);
        }
        if (fault_ == Fault::gradients_told_wrong && narrow) tell_wrong(g);
        if (fault_ == Fault::scheme_off)
            for (NamedMatrix& m : g.matrices)
                for (double& x : m.values.values) x *= 1 + times_ * agreement_for(DType::f64).tolerance;
        return g;
    }
    OwnedRows embeddings() override {
        if (fault_ == Fault::score_without_halo) return inner_->embeddings();
        const Evaluating now;
        return inner_->embeddings();
    }

private:
    struct Evaluating {
        Evaluating() { progress().evaluates = true; }
        ~Evaluating() { progress().evaluates = false; }
        Evaluating(const Evaluating&) = delete;
        Evaluating& operator=(const Evaluating&) = delete;
    };

    /// SGD's w' = w − η(g + λw) may be γ_12·η(|g| + λ|w|) + 2u|w| off; told of an element of the first layer, g is that
    /// over η off.
    void tell_wrong(ModelWeights& g) {
        const Rounding rounding = rounding_of(DType::f32);
        const HostMatrix stepped = inner_->weights().matrices.front().values;
        HostMatrix& first = g.matrices.front().values;
        double& told = largest(first);
        const auto at = static_cast<std::size_t>(&told - first.values.data());
        const double rate = train_.learning_rate, decay = train_.weight_decay.at(0);
        const double weight = (stepped.values[at] + rate * told) / (1 - rate * decay);  // before the step
        told += times_ *
                (rounding.gamma(12) * rate * (std::abs(told) + decay * std::abs(weight)) +
                 2 * rounding.unit * std::abs(weight)) /
                rate;
    }
    static double& largest(HostMatrix& m) {
        return *std::max_element(m.values.begin(), m.values.end(),
                                 [](double a, double b) { return std::abs(a) < std::abs(b); });
    }

    std::unique_ptr<TwiceLooped> looped_;
    std::unique_ptr<CollectiveTrainer> inner_;
    Rank rank_;
    const TrainSpec& train_;
    Fault fault_;
    double times_, tolerance_;
    Matrix buffer_;
};

/// A strategy that makes such trainers and states what the inner one states.
class FaultyStrategy final : public Strategy {
public:
    FaultyStrategy(const Strategy& inner, Injected injected) : inner_(inner), injected_(injected) {}
    std::string approximation(const Params& p) const override { return inner_.approximation(p); }
    std::string why_unsupported(const Setting& s) const override { return inner_.why_unsupported(s); }
    PartitionNeed partition_need(const Setting& s) const override { return inner_.partition_need(s); }
    StatedVolume stated_volume(const Problem& p, int rank, std::int64_t element_bytes,
                               std::int64_t epoch) const override {
        return inner_.stated_volume(p, rank, element_bytes, epoch);
    }
    std::int64_t stated_memory(const Problem& p, int rank, std::int64_t element_bytes) const override {
        // What over-sending needs is not its fault.
        return inner_.stated_memory(p, rank, element_bytes) +
               (injected_.fault == Fault::over_sending ? 16 * element_bytes : 0);
    }
    AnyTrainer make_trainer(const Problem& p, Rank rank) const override {
        // The reference reads the same adjacency code, so that a second loop has to be in this scheme's graph alone.
        std::unique_ptr<TwiceLooped> looped;
        if (injected_.fault == Fault::self_loop_twice) looped = std::make_unique<TwiceLooped>(p);
        auto inner = inner_.make_collective_trainer(looped ? looped->problem() : p, rank);
        return std::make_unique<FaultyTrainer>(std::move(inner), rank, p.train, injected_, std::move(looped));
    }

private:
    const Strategy& inner_;
    Injected injected_;
};

}  // namespace gnnbench::faults
