#pragma once
#include <memory>

#include <gnnbench/strategy.hpp>
#include <gnnbench/training/adjacency.hpp>

/// What follows from a problem, made once for all ranks of a process.

namespace gnnbench {

/// Â of the dataset and the model.
Adjacency adjacency_of(const Problem& problem);

/// The weights that training starts from: those given, or drawn from the seed.
std::shared_ptr<const ModelWeights> first_weights_of(const Problem& problem);

}  // namespace gnnbench
