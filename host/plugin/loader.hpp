#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gnnbench/plugin.hpp>

#include "plugin/library.hpp"

namespace gnnbench {

class BackendPlugin;
class Importer;
class Partitioner;
class Strategy;

/// The description of a usable plugin. The declarations live as long as the process.
struct PluginDescription {
    PluginKind kind;
    std::string name, version, summary;
    std::filesystem::path file;
    std::span<const ParamDecl> params;
};

/// A plugin file in a search folder, usable or not.
struct ListedPlugin {
    PluginKind kind;
    std::string name;
    std::filesystem::path file;
    std::filesystem::path
        shadowed_by;  ///< the file of the same kind and name that is used instead; this one is not opened
    std::string version, summary;  ///< empty where shadowed or refused
    std::string refused;           ///< why it cannot be used, naming the file; empty if it can

    bool usable() const { return refused.empty() && shadowed_by.empty(); }
};

/// The search folders, first match wins: the folders of the environment's GNNBENCH_PLUGIN_PATH (separated by
/// colons), then the one that belongs to this program.
std::vector<std::filesystem::path> plugin_folders();

/// A warning for each folder that anyone on this machine can write to: a library placed there runs
/// with the rights of whoever runs gnnbench.
std::vector<std::string> exposed_folders(const std::vector<std::filesystem::path>& folders);

/// The available plugins: files lib<kind>_<name>.so in a list of folders. A lookup opens only the plugin it names.
class PluginCatalog {
public:
    explicit PluginCatalog(const std::vector<std::filesystem::path>& folders = plugin_folders());

    const std::vector<std::filesystem::path>& folders() const { return folders_; }
    /// Names of a kind in alphabetical order, including refused ones. Opens nothing.
    std::vector<std::string> names(PluginKind kind) const;
    /// Fills in what a file says of itself, or why it is refused.
    using Examine = std::function<void(ListedPlugin&)>;
    /// Examines every file that is not shadowed. By kind, then name, then search order.
    std::vector<ListedPlugin> list(const Examine& examine = examine_here) const;
    /// Opens the library in this process permanently; its constructors run here.
    static void examine_here(ListedPlugin& plugin);

    /// These throw PluginError for an unknown name (with the nearest known one), and for a refused file.
    PluginDescription find(PluginKind kind, std::string_view name) const;
    std::unique_ptr<Strategy> strategy(std::string_view name) const;
    std::unique_ptr<Partitioner> partitioner(std::string_view name) const;
    std::unique_ptr<BackendPlugin> kernel(std::string_view name) const;
    std::unique_ptr<Importer> importer(std::string_view name) const;

private:
    struct File {
        PluginKind kind;
        std::string name;
        std::size_t folder;  ///< index into folders_: the lower is used
        std::filesystem::path path;
    };
    static std::optional<File> parse(const std::filesystem::path& path, std::size_t folder);
    const File& file_of(PluginKind kind, std::string_view name) const;
    PluginLibrary open(PluginKind kind, std::string_view name) const;
    std::string not_found(PluginKind kind, std::string_view name) const;

    std::vector<std::filesystem::path> folders_;
    std::vector<File> files_;  ///< ordered by kind, name, folder
};

}  // namespace gnnbench
