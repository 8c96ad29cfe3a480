#pragma once
#include <cstdint>
#include <filesystem>
#include <string_view>

#include <gnnbench/plugin.hpp>

namespace gnnbench {

/// Which template a plugin starts from.
enum class PluginTemplate : std::uint8_t {
    strategy,  ///< ranks that advance together
    workers,   ///< a strategy of independent workers
    partitioner,
    importer,
};

/// What `gnnbench plugin new` writes: the folder into/name with a working plugin that builds outside this tree. Returns
/// the folder. The templates are files (templates/<which>/…); in their names and text @NAME@, @CLASS@ and @FILE@ stand
/// for my-parts, MyParts and my_parts.
/// Throws SpecError for an unusable name or a folder that is not empty;
/// EnvironmentError where the templates are missing or the folder cannot be written.
std::filesystem::path write_plugin_folder(PluginTemplate which, std::string_view name,
                                          const std::filesystem::path& into,
                                          const std::filesystem::path& templates);

/// The same with the templates that belong to the running program.
std::filesystem::path write_plugin_folder(PluginTemplate which, std::string_view name,
                                          const std::filesystem::path& into);

}  // namespace gnnbench
