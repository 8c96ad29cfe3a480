#pragma once
#include <string>

#include <gnnbench/strategy.hpp>
#include <gnnbench/transport.hpp>

namespace gnnbench {

/// The difference between the ranks' copies of weights or gradients.
struct ReplicaSpread {
    double error =
        0;  ///< ‖largest − smallest copy, element by element‖_F ÷ largest ‖copy‖_F; ∞ where one is not finite
    std::string worst;  ///< the matrix with the largest error: "W1", "b0"

    /// An upper bound on the difference between any two ranks' copies. Copies that were summed over different groups of
    /// ranks (1.5D, Plexus' biases) agree up to rounding, all others bit by bit.
    bool within(double tolerance) const { return error <= tolerance; }
};

/// Collective: every rank of `world` passes its copy. A strategy's ranks each hold whole matrices, or gather them in
/// Trainer::weights() and gradients(); comparing rank 0's alone with a reference says nothing about the others'.
ReplicaSpread replica_spread(const ModelWeights& mine, const ProcessGroup& world);

}  // namespace gnnbench
