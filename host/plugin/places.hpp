#pragma once
#include <filesystem>

namespace gnnbench {

/// Paths relative to the running program, in the build tree and in an install prefix.
/// <prefix>/lib/gnnbench/plugins
std::filesystem::path own_plugin_folder();
/// <prefix>/share/gnnbench: schemas, experiments, plugin-template
std::filesystem::path share_folder();

}  // namespace gnnbench
