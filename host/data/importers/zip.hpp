#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include <data/npy.hpp>

namespace gnnbench {

/// The arrays of an .npz (a zip archive of .npy files), by name without ".npy". Only what `wanted` admits is
/// unpacked, into memory and nowhere else, and no more of it than its header states.
std::map<std::string, NpyArray> read_npz(const std::filesystem::path& path,
                                         const std::function<bool(const std::string&)>& wanted);

}  // namespace gnnbench
