#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace gnnbench {

/// What a file's experiment is called: without a profile, and under each that the file itself has. Empty for what is no
/// experiment.
std::vector<std::string> experiment_names(const std::filesystem::path& file);

}  // namespace gnnbench
