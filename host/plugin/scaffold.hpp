#pragma once
#include <filesystem>
#include <string_view>

#include <gnnbench/plugin.hpp>

namespace gnnbench {

/// What `gnnbench plugin new` writes: the folder into/name with a working plugin that builds outside this tree. Returns
/// the folder. The templates are files (templates/<kind>/…); in their names and text @NAME@, @CLASS@ and @FILE@ stand
/// for my-parts, MyParts and my_parts.
/// Throws SpecError for an unusable name, a kind without template or a folder that is not empty;
/// EnvironmentError where the templates are missing or the folder cannot be written.
std::filesystem::path write_plugin_folder(PluginKind kind, std::string_view name,
                                          const std::filesystem::path& into,
                                          const std::filesystem::path& templates);

/// The same with the templates that belong to the running program.
std::filesystem::path write_plugin_folder(PluginKind kind, std::string_view name,
                                          const std::filesystem::path& into);

}  // namespace gnnbench
