#pragma once
#include <filesystem>

#include <data/edges.hpp>
#include <data/import_room.hpp>
#include <data/raw_dataset.hpp>

namespace gnnbench {

/// The file NAME.csv.gz of a folder, or NAME.csv; an empty path where there is neither.
std::filesystem::path ogb_csv(const std::filesystem::path& folder, const char* name);

/// How a caller wants the edges.
struct OgbEdges {
    bool weighted = false;  ///< with the only edge feature as weight
    bool reverse = false;   ///< a listed edge u v is v to u
    EdgePolicy policy;
    std::int64_t drawn_features = 0;  ///< where the set has none
};

/// Both read the raw folder of one graph: they put graph, features and labels into `data`, of which they return the number
/// of vertices. What the counts beside the arrays state must hold. Edges and features as CSV may exceed memory.
std::int64_t read_ogb_csv(const std::filesystem::path& raw, const OgbEdges& wanted, const ImportRoom& room,
                          RawDataset& data);
std::int64_t read_ogb_npz(const std::filesystem::path& raw, const OgbEdges& wanted, RawDataset& data);

}  // namespace gnnbench
