#pragma once
#include <filesystem>
#include <functional>
#include <optional>

#include <data/edges.hpp>
#include <data/memory_budget.hpp>
#include <data/importers/listed_ways.hpp>
#include <data/raw_dataset.hpp>

namespace gnnbench {

/// The file NAME.csv.gz of a folder, or NAME.csv; an empty path where there is neither.
std::filesystem::path ogb_csv(const std::filesystem::path& folder, const char* name);

/// How a caller wants the edges.
struct OgbEdges {
    bool weighted = false;  ///< with the only edge feature as weight
    bool reverse = false;   ///< a listed edge u v is v to u
    EdgePolicy policy;
    std::function<Listing(Ways)> listing = {};  ///< by the edges themselves; null: policy's
    std::int64_t drawn_features = 0;            ///< where the set has none
};

/// What data.npz says of its edges, as OGB's own table of sets does: 1 where each is listed once for both directions, 0 where
/// the list is whole; nothing where it has no such array, or there is no data.npz.
std::optional<bool> stated_inverse(const std::filesystem::path& raw);

/// Both read the raw folder of one graph: they put graph, features and labels into `data`, of which they return the number
/// of vertices. What the counts beside the arrays state must hold. Edges and features as CSV may exceed memory.
std::int64_t read_ogb_csv(const std::filesystem::path& raw, const OgbEdges& wanted, const MemoryBudget& room,
                          RawDataset& data);
std::int64_t read_ogb_npz(const std::filesystem::path& raw, const OgbEdges& wanted, RawDataset& data);

}  // namespace gnnbench
