#pragma once
#include <string>

#include <gnnbench/params.hpp>
#include <gnnbench/strategy.hpp>

/// What changes layer 0's input, and what that rules out.

namespace gnnbench {

/// The boolean parameter that makes a strategy train layer 0's input along with the weights: another model, whose
/// reference is `serial` with the same parameter. Features have no weight decay.
inline constexpr const char* trainable_features = "trainable_features";

/// Whether these parameters of a strategy set it; false for a strategy without the parameter.
bool trains_features(const Params& params);

/// Why ÂX cannot be computed once at set-up although the model requests it: X is trained. Empty if it can, or if the
/// model does not request it.
std::string why_input_not_aggregated(const Setting& setting);

/// Why X cannot be a sparse operand although the model requests it: layer 0's input is not X, or changes from epoch to
/// epoch. Empty if it can, or if the model does not request it.
std::string why_features_not_sparse(const Setting& setting);

}  // namespace gnnbench
