#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <gnnbench/plugin.hpp>

namespace gnnbench {

/// What a plugin's file says of itself, read as data: nothing is loaded, so none of its code runs.
struct FileDescription {
    PluginInfo info{};                   ///< the first fields; its pointers are null
    std::vector<std::string> libraries;  ///< file names of those that it needs
};

/// Empty if the library exports no description. Throws PluginError for anything but a complete shared library: a pipe, a
/// text, or a truncated file, which the dynamic loader would map and then crash on.
std::optional<FileDescription> read_description(const std::filesystem::path& file);

/// What to do about a plugin of another build.
inline constexpr const char* rebuild_plugin =
    "Rebuild the plugin against this gnnbench, or use the gnnbench it was built with.";

/// Why this build cannot load a plugin that describes itself so; empty if nothing that a file says forbids it. Begins with
/// " was built" or " is not", after the file's name.
std::string why_not_loaded(const FileDescription& file);

}  // namespace gnnbench
