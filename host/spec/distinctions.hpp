#pragma once
#include <span>
#include <string>

#include "record/varying.hpp"
#include "spec/cell.hpp"

namespace gnnbench {

/// What distinguishes cells that share dataset, scheme, partitioner and number of GPUs, which is how lists and messages name
/// them: [cell][name]. Defaults that follow from another key are left out, as GraphSAGE's normalisation from `layers`.
VaryingFields distinctions(std::span<const Cell* const> cells);

}  // namespace gnnbench
