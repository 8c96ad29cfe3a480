#pragma once
#include <filesystem>

namespace gnnbench {

/// Throws SpecError, with the mkdir to type, where the folder that is to hold `path` does not exist: a misspelt path
/// creates no folders. `what` names the path: "--output".
void require_folder_of(const std::filesystem::path& path, const char* what);

}  // namespace gnnbench
