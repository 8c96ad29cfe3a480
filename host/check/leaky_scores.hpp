#pragma once

namespace gnnbench {

/// λ and λ' of attention's scores (gnnbench/verbs/attention.hpp).
inline double leaky(double x, double slope) { return x > 0 ? x : slope * x; }
inline double leaky_derivative(double x, double slope) { return x > 0 ? 1 : slope; }

}  // namespace gnnbench
