#include <gnnbench/training/problem.hpp>

#include <gnnbench/training/parameters.hpp>

namespace gnnbench {
namespace {

/// What ranks of one process share of a problem.
struct KeptProblem {
    std::shared_ptr<const Adjacency> adjacency;
    std::shared_ptr<const ModelWeights> first_weights;
};

}  // namespace

Adjacency adjacency_of(const Problem& p) {
    const auto make = [&] { return Adjacency(p.dataset.graph, p.model, p.threads, p.cost, p.shared); };
    return p.shared ? *made_once(&p.shared->of<KeptProblem>().adjacency, make) : make();
}

std::shared_ptr<const ModelWeights> first_weights_of(const Problem& p) {
    auto* const kept = p.shared ? &p.shared->of<KeptProblem>().first_weights : nullptr;
    return made_once(
        kept, [&] { return p.initial_weights ? *p.initial_weights : initial_weights(p.model, p.train.seed); });
}

}  // namespace gnnbench
