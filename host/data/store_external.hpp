#pragma once
#include <filesystem>
#include <string>

#include <data/fill.hpp>
#include <data/manifest.hpp>
#include <data/raw_dataset.hpp>

namespace gnnbench {

/// Of a dataset with its graph outside memory: what is missing is drawn when it is written; lists it in `synthetic`.
void fill_later(RawDataset& data, const FillSpec& spec);

/// Writes the arrays of such a dataset into a folder, a piece at a time; the same bytes as of one in memory.
Manifest write_outside_arrays(const std::filesystem::path& folder, const RawDataset& data,
                              const std::string& where);

}  // namespace gnnbench
