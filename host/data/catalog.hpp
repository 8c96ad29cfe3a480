#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <data/manifest.hpp>

namespace gnnbench {

/// One dataset in a catalog. A store that cannot be read has a `problem` instead of a manifest.
struct CatalogEntry {
    std::string folder;  ///< its name in the catalog
    Manifest manifest;
    std::string problem;
};

/// A folder of stores.
class Catalog {
public:
    explicit Catalog(std::filesystem::path folder) : folder_(std::move(folder)) {}
    /// --data-dir if given; else the environment's GNNBENCH_DATA; else ./datasets.
    static Catalog at(const std::string& data_dir);

    const std::filesystem::path& folder() const { return folder_; }
    /// Those whose folders begin so.
    std::vector<CatalogEntry> list(const std::string& beginning = "") const;
    /// The store with this folder name or dataset name, or at this path. Throws DataError naming what there
    /// is.
    std::filesystem::path find(const std::string& name) const;

private:
    std::filesystem::path folder_;
};

/// The resolved dataset mapping of a spec. `digest` is empty until the store exists.
struct ResolvedDataset {
    std::string name;  ///< as tables show it
    std::string digest;
    std::filesystem::path store;
    int split = 0;
    bool was_there = false;  ///< nothing had to be made
};

/// Says which store a mapping means, without making it. The mapping is {"store": name} or {"path": file, "format":
/// …, …import options} or {"generate": kind, …parameters}; each may have "split", the latter two "name"; or {"expect": profile, …}, which has a
/// digest and never a store. Throws
/// SpecError on keys and values that are not allowed, DataError where a store or file does not exist.
ResolvedDataset resolve_dataset(const nlohmann::json& source, const Catalog& catalog);

/// resolve_dataset, then creates the store if there is none; a second call finds it. Two concurrent processes create it
/// once. A store that this program did not write in its present state is checked completely before it is
/// trusted. `progress` gets one line before each step that takes time; it may be empty.
/// `memory_bytes`: what an import may take; by default MemoryBudget::default_memory().
ResolvedDataset ensure_dataset(const nlohmann::json& source, const Catalog& catalog,
                               const std::function<void(const std::string&)>& progress = {},
                               std::optional<std::uint64_t> memory_bytes = {});

}  // namespace gnnbench
