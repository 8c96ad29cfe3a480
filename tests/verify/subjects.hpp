#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include <gnnbench/transport.hpp>

#include "data/store.hpp"
#include "verify/product.hpp"

namespace gnnbench::verify {

/// A graph in memory. `data` views `store`.
struct LoadedGraph {
    std::string name;
    std::vector<Subject> subjects;  ///< one for each kind of layer
    Store store;
    DatasetView data;

    const Subject& with(const std::string& layers) const;
};

struct AbsentGraph {
    std::string name, reason;
};

struct Graphs {
    std::vector<LoadedGraph> loaded;  ///< smallest first
    std::vector<AbsentGraph> absent;

    std::vector<Subject> subjects() const;
    const LoadedGraph& named(const std::string& name) const;
};

/// The graphs of the product: lesmis (weighted), directed-weighted (drawn; at 1, 2, 4 and 8 ranks), two R-MATs (generated,
/// directed), communities (generated, with several labels a vertex), wiki-Vote (directed), astro-ph (with empty rows),
/// tolokers (dense, two classes). Each is trained with every kind of layer, communities with GCN's alone. Files are read from
/// `shared`, the folder of real datasets; `stores` keeps the stores, and the folder above it a list of drawn edges; what is
/// not there is absent. Collective.
Graphs load_graphs(const std::filesystem::path& shared, const std::filesystem::path& stores,
                   const ProcessGroup& world);

}  // namespace gnnbench::verify
