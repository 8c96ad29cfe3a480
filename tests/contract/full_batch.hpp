#pragma once
#include <algorithm>
#include <string>
#include <string_view>

#include "plugin/loader.hpp"

namespace gnnbench::contract {

/// A strategy that trains on batches of clusters. What is said of an epoch on the whole graph does not apply to it; its own
/// contract is batches.cpp.
inline bool trains_on_batches(const PluginCatalog& catalog, const std::string& strategy) {
    const auto declared = catalog.find(PluginKind::strategy, strategy).params;
    return std::ranges::any_of(declared,
                               [](const ParamDecl& p) { return std::string_view(p.name) == "clusters"; });
}

}  // namespace gnnbench::contract
