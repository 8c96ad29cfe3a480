#pragma once
#include <gnnbench/params.hpp>

namespace gnnbench {

/// The boolean parameter that makes a strategy train layer 0's input along with the weights: another model, whose
/// reference is `serial` with the same parameter. Features have no weight decay.
inline constexpr const char* trainable_features = "trainable_features";

/// Whether these parameters of a strategy set it; false for a strategy without the parameter.
bool trains_features(const Params& params);

}  // namespace gnnbench
