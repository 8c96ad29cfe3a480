#pragma once
#include <filesystem>
#include <string_view>

namespace gnnbench {

/// To the file, which stderr then names, or to stdout where `output` is empty. Throws EnvironmentError where it cannot be
/// written.
void write_output(const std::filesystem::path& output, std::string_view text);

}  // namespace gnnbench
