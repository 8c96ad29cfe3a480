#pragma once
#include <filesystem>
#include <string>

#include <data/fill.hpp>
#include <data/manifest.hpp>
#include <data/raw_dataset.hpp>

namespace gnnbench {

/// For a dataset whose graph is outside memory: arrays that are missing are drawn when it is written, and listed in
/// `synthetic`.
void fill_later(RawDataset& data, const FillSpec& spec);

/// Writes the arrays of such a dataset into a folder, a piece at a time; the same bytes as of one in memory.
Manifest write_outside_arrays(const std::filesystem::path& folder, const RawDataset& data,
                              const std::string& where);

}  // namespace gnnbench
