#include "worker/replicas.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace gnnbench {
namespace {

/// The same for one matrix; with a norm of 0, the spread itself.
double spread_of(const HostMatrix& mine, const ProcessGroup& world) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    // Largest and, by the negative, smallest copy of each element, and the largest magnitude for the norm.
    const std::size_t n = mine.values.size();
    std::vector<double> extremes(2 * n);
    for (std::size_t i = 0; i < n; ++i) {
        const double x = mine.values[i];
        extremes[i] = std::isfinite(x) ? x : infinity;  // a maximum may ignore a NaN
        extremes[n + i] = std::isfinite(x) ? -x : infinity;
    }
    extremes = world.maximum(std::move(extremes));
    double apart = 0, norm = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double largest = extremes[i], smallest = -extremes[n + i];
        if (!std::isfinite(largest) || !std::isfinite(smallest)) return infinity;
        apart += (largest - smallest) * (largest - smallest);
        norm += std::max(largest * largest, smallest * smallest);
    }
    return norm > 0 ? std::sqrt(apart / norm) : 0;
}

}  // namespace

ReplicaSpread replica_spread(const ModelWeights& mine, const ProcessGroup& world) {
    ReplicaSpread out;
    for (const NamedMatrix& m : mine.matrices)
        if (const double error = spread_of(m.values, world); error > out.error) out = {error, m.name};
    return out;
}

}  // namespace gnnbench
