#pragma once
#include <cstdint>
#include <vector>

#include "contract/strategy_case.hpp"

/// The models that every strategy trains in its contract.
namespace gnnbench::contract {

/// Of GraphSAGE or GIN, with what such a model has in place of GCN's normalisation and self-loops.
ModelVariant variant_of(LayerKind kind, const std::vector<std::int64_t>& widths);

/// Of a graph attention network, with ELU between its layers; `heads` of each layer.
ModelVariant attention(const std::vector<std::int64_t>& widths, const std::vector<std::int64_t>& heads,
                       LayerKind kind = LayerKind::gat);

/// Every kind of layer, and each choice of a model at least once.
std::vector<ModelVariant> all_models();

}  // namespace gnnbench::contract
