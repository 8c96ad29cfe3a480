#pragma once
#include <filesystem>

#include <data/edges.hpp>
#include <data/raw_dataset.hpp>

namespace gnnbench {

/// The file NAME.csv.gz of a folder, or NAME.csv; an empty path where there is neither.
std::filesystem::path ogb_csv(const std::filesystem::path& folder, const char* name);

/// Both read the raw folder of one graph: they put features and labels into `data` and return the edges as they are
/// listed, with the only edge feature as weight where `weighted`. What the counts beside the arrays state must hold.
EdgeList read_ogb_csv(const std::filesystem::path& raw, bool weighted, RawDataset& data);
EdgeList read_ogb_npz(const std::filesystem::path& raw, bool weighted, RawDataset& data);

}  // namespace gnnbench
