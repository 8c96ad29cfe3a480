#pragma once
#include <filesystem>
#include <optional>

#include <gnnbench/plugin.hpp>

namespace gnnbench {

/// The first fields of the description in a plugin's file, read as data: nothing is loaded, so none of its code runs.
/// Its pointers are null. Empty if the library exports none. Throws PluginError for anything but a complete shared
/// library: a pipe, a text, or a truncated file, which the dynamic loader would map and then crash on.
std::optional<PluginInfo> read_description(const std::filesystem::path& file);

}  // namespace gnnbench
