#pragma once
#include <filesystem>
#include <map>
#include <string>

#include <data/npy.hpp>

namespace gnnbench {

/// The arrays of an .npz (a zip archive of .npy files), by name without ".npy". Only what `wanted` admits is
/// unpacked.
std::map<std::string, NpyArray> read_npz(const std::filesystem::path& path, bool (*wanted)(const std::string&));

}  // namespace gnnbench
