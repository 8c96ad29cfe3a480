#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace gnnbench {

/// The names of a file's experiment: without a profile, and under each of the file's own. Empty if it is not an
/// experiment.
std::vector<std::string> experiment_names(const std::filesystem::path& file);

}  // namespace gnnbench
