#pragma once
#include <filesystem>
#include <optional>

#include <gnnbench/plugin.hpp>

namespace gnnbench {

/// The beginning of the description in a plugin's file, read as data: nothing is loaded, so no code of the file runs. Its
/// pointers are null. Empty where the library exports none. Throws PluginError for what is no whole shared library, such as a
/// pipe, a text, or a file that was cut short, which the dynamic loader would map and then die of.
std::optional<PluginInfo> read_description(const std::filesystem::path& file);

}  // namespace gnnbench
