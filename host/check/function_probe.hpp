#pragma once
#include <gnnbench/backend.hpp>
#include <gnnbench/model.hpp>

namespace gnnbench {

/// Has a checked back end apply the model's activation, its derivative and its loss to numbers of both signs from the
/// smallest to the largest of float32, most of which no short training meets: a function that is wrong far outside the
/// range of the first epochs is found all the same. The checks report what they find.
void probe_functions(Backend& checked, const ModelSpec& model, bool multi_label);

}  // namespace gnnbench
