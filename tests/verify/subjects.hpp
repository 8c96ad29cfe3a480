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
    Subject subject;
    Store store;
    DatasetView data;
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

/// The graphs of the product: lesmis (weighted), an R-MAT (generated, directed), wiki-Vote (directed), astro-ph
/// (with empty rows), tolokers (dense, two classes). Files are read from `shared`, the folder of real datasets,
/// whose stores are kept in `stores`; what is not there is absent. Collective.
Graphs load_graphs(const std::filesystem::path& shared, const std::filesystem::path& stores,
                   const ProcessGroup& world);

}  // namespace gnnbench::verify
