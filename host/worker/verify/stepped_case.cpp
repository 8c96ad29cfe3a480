#include "worker/verify/stepped_case.hpp"

#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include <gnnbench/training/parameters.hpp>

namespace gnnbench {
namespace {

void share(std::vector<double>& v, const ProcessGroup& group) {
    group.broadcast(v.data(), v.size() * sizeof(double), 0);
}

std::optional<ReferenceResult> from_rank_0(const ReferenceResult* known, const VerificationCase& c) {
    std::uint8_t there = known != nullptr;
    c.group.broadcast(&there, sizeof there, 0);
    if (!there) return std::nullopt;
    ReferenceResult result;
    if (known) result = *known;
    const std::string untame = c.group.all_gather(result.untame)[0];
    result.untame = untame;
    std::vector<double> numbers = {static_cast<double>(result.loss.size()), result.learning_rate};
    share(numbers, c.group);
    const auto epochs = static_cast<std::size_t>(numbers[0]);
    result.learning_rate = numbers[1];
    result.loss.resize(epochs);
    result.gradient.resize(epochs);
    result.scale.resize(epochs);
    share(result.loss, c.group);
    for (std::size_t e = 0; e < epochs; ++e) {
        ModelWeights& g = result.gradient[e];
        if (!known) g = zero_weights(c.problem.model);
        for (NamedMatrix& m : g.matrices) share(m.values.values, c.group);
        result.scale[e].resize(g.matrices.size());
        share(result.scale[e], c.group);
    }
    return result;
}

TrainSpec stepping(TrainSpec train, const std::optional<ReferenceResult>& reference) {
    if (reference && reference->learning_rate > 0) train.learning_rate = reference->learning_rate;
    return train;
}

Problem with(const Problem& p, const TrainSpec& train) {
    return {p.dataset, p.index,    p.model,   train,  p.params, p.initial_weights,
            p.ranks,   p.slowdown, p.threads, p.cost, p.shared};
}

VerificationCase with(const VerificationCase& c, const Problem& problem) {
    return {c.strategy, problem,         c.group,   c.backend,   c.float64_backend, c.dtype,      c.own_training,
            c.epochs,   c.separate_wait, c.threads, c.evaluates, c.catalog,         c.approximate};
}

}  // namespace

SteppedCase::SteppedCase(const VerificationCase& c, const ReferenceResult* known)
    : reference_(from_rank_0(known, c)),
      train_(stepping(c.problem.train, reference_)),
      problem_(with(c.problem, train_)),
      case_(with(c, problem_)) {
    if (reference_) case_.epochs = std::ssize(reference_->loss);
}

}  // namespace gnnbench
