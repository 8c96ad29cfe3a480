#pragma once
#include <memory>

#include <gnnbench/strategy.hpp>
#include <gnnbench/transport.hpp>

#include "faults/faults.hpp"

namespace gnnbench::faults {

/// A trainer with one fault around it.
class FaultyTrainer final : public Trainer {
public:
    FaultyTrainer(std::unique_ptr<Trainer> inner, Rank rank, Fault fault)
        : inner_(std::move(inner)), rank_(rank), fault_(fault) {
        if (fault == Fault::wasted_buffer || fault == Fault::over_sending) buffer_ = rank.kernel.matrix(1, 16);
    }

    double train_epoch(std::int64_t epoch) override {
        if (fault_ == Fault::over_sending) rank_.world.broadcast_now(buffer_, 0);
        if (fault_ == Fault::allocating_epoch) rank_.kernel.allocate(64);
        return inner_->train_epoch(epoch);
    }
    Accuracy evaluate() override { return inner_->evaluate(); }
    ModelWeights weights() override { return inner_->weights(); }
    ModelWeights gradients() override {
        ModelWeights g = inner_->gradients();
        const bool narrow = rank_.kernel.dtype() == DType::f32;
        if (fault_ == Fault::copy_differs && rank_.world.rank() == rank_.world.size() - 1)
            largest(g.weight.back()) *= 1.01;
        if (fault_ == Fault::gradients_told_wrong && narrow) scale(g, 1.001);
        if (fault_ == Fault::scheme_off) scale(g, 1 + 1e-7);
        return g;
    }
    OwnedRows embeddings() override { return inner_->embeddings(); }

private:
    static void scale(ModelWeights& g, double factor) {
        for (auto* matrices : {&g.weight, &g.bias})
            for (HostMatrix& m : *matrices)
                for (double& x : m.values) x *= factor;
    }
    static double& largest(HostMatrix& m) {
        return *std::max_element(m.values.begin(), m.values.end(),
                                 [](double a, double b) { return std::abs(a) < std::abs(b); });
    }

    std::unique_ptr<Trainer> inner_;
    Rank rank_;
    Fault fault_;
    Matrix buffer_;
};

/// A strategy that makes such trainers and states what the inner one states.
class FaultyStrategy final : public Strategy {
public:
    FaultyStrategy(const Strategy& inner, Fault fault) : inner_(inner), fault_(fault) {}
    std::string approximation(const Params& p) const override { return inner_.approximation(p); }
    std::string why_unsupported(const Setting& s) const override { return inner_.why_unsupported(s); }
    PartitionNeed partition_need(const Setting& s) const override { return inner_.partition_need(s); }
    Volume stated_volume(const Problem& p, int rank, std::int64_t element_bytes) const override {
        return inner_.stated_volume(p, rank, element_bytes);
    }
    std::int64_t stated_memory(const Problem& p, int rank, std::int64_t element_bytes) const override {
        // What over-sending needs is not its fault.
        return inner_.stated_memory(p, rank, element_bytes) +
               (fault_ == Fault::over_sending ? 16 * element_bytes : 0);
    }
    std::unique_ptr<Trainer> make_trainer(const Problem& p, Rank rank) const override {
        return std::make_unique<FaultyTrainer>(inner_.make_trainer(p, rank), rank, fault_);
    }

private:
    const Strategy& inner_;
    Fault fault_;
};

}  // namespace gnnbench::faults
