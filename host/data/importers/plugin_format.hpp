#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gnnbench/params.hpp>

#include <data/memory_budget.hpp>
#include <data/raw_dataset.hpp>

namespace gnnbench {

// Formats that importer plugins read (gnnbench/importer.hpp). All but the first two functions open the plugin, and throw PluginError
// where that cannot be used.

/// Names of the plugins of this interface version, in alphabetical order; opens none.
std::vector<std::string> plugin_formats();
/// The first of those that recognises the path; empty if none does. A plugin that cannot be used recognises nothing.
std::string detect_plugin_format(const std::filesystem::path& path);

std::string plugin_format_summary(std::string_view name);
std::string plugin_format_version(std::string_view name);
/// The declared ones, and those that the host gives every importer. Throws PluginError where one is declared that the host
/// gives.
std::span<const ParamDecl> plugin_format_params(std::string_view name);
std::vector<std::filesystem::path> plugin_format_inputs(std::string_view name, const std::filesystem::path& path);
RawDataset read_plugin_format(std::string_view name, const std::filesystem::path& path, const Params& params,
                              const MemoryBudget& room);

}  // namespace gnnbench
