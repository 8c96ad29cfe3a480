#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include <gnnbench/plugin.hpp>

namespace gnnbench {

/// "strategy", "partitioner", "kernel" or "importer".
std::string_view kind_name(PluginKind kind);

/// Why this build cannot use a plugin with this description; empty if it can. Reads plain data only.
/// `kind` and `name` come from the file's name.
std::string mismatch(const PluginInfo& info, PluginKind kind, std::string_view name);

/// A plugin's library, opened and checked. It is never unloaded: objects, exceptions and types
/// of a plugin may outlive whoever opened it.
class PluginLibrary {
public:
    /// Throws PluginError that names the file, what is wrong and what to do. The file's own description is read
    /// before the library is opened, which runs its code.
    static PluginLibrary open(const std::filesystem::path& file, PluginKind kind, std::string_view name);

    const PluginInfo& info() const { return *info_; }
    /// A new Strategy, Partitioner, BackendPlugin or Importer, by the plugin's kind.
    void* create() const { return create_(); }

private:
    PluginLibrary(const PluginInfo* checked, void* (*entry)()) : info_(checked), create_(entry) {}
    const PluginInfo* info_;
    void* (*create_)();
};

}  // namespace gnnbench
