#pragma once
#include <string>

#include <gnnbench/strategy.hpp>

#include "plugin/loader.hpp"

namespace gnnbench::contract {

/// What is said of an epoch on the whole graph does not apply to a strategy that trains on batches; batches.cpp has
/// their contract.
inline bool trains_on_batches(const PluginCatalog& catalog, const std::string& strategy) {
    return catalog.strategy(strategy)->trains_on_batches();
}

}  // namespace gnnbench::contract
