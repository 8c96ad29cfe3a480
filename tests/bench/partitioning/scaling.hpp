#pragma once
#include <string>
#include <vector>

#include "plugin/loader.hpp"

namespace gnnbench::bench {

/// Time and memory of `hypergraph` and METIS over the number of edges, on undirected power laws with communities; a
/// table in Markdown. `millions`: entries of the matrices, roughly.
std::string scaling_table(const PluginCatalog& catalog, const std::vector<double>& millions, int parts,
                          double imbalance);

}  // namespace gnnbench::bench
