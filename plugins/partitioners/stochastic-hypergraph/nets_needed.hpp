#pragma once
#include <cmath>

#include <gnnbench/partition.hpp>

namespace gnnbench::stochastic {

/// How many random nets estimate the connectivity of a random net to within θ with probability 1 − δ, since it lies in
/// [1, p] (Hoeffding's inequality; Demirci et al., equation 14): |N| ≥ (p − 1)² ln(2/δ) / (2θ²).
inline double nets_needed(Part parts, double theta, double delta) {
    const double range = static_cast<double>(parts) - 1;
    return range * range / (2 * theta * theta) * std::log(2 / delta);
}

}  // namespace gnnbench::stochastic
