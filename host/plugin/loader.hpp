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

class KernelPlugin;
class Partitioner;
class Strategy;

/// A plugin that can be used: what it says of itself. The declarations live as long as the process.
struct PluginDescription {
    PluginKind kind;
    std::string name, version, summary;
    std::filesystem::path file;
    std::span<const ParamDecl> params;
};

/// A plugin file that was found, usable or not.
struct ListedPlugin {
    PluginKind kind;
    std::string name;
    std::filesystem::path file;
    std::filesystem::path
        shadowed_by;               ///< the file of the same kind and name that is used instead; not opened then
    std::string version, summary;  ///< empty where shadowed or refused
    std::string refused;           ///< why it cannot be used, naming the file; empty if it can

    bool usable() const { return refused.empty() && shadowed_by.empty(); }
};

/// Where plugins are looked for, first wins: the folders of the environment's GNNBENCH_PLUGIN_PATH (separated by
/// colons), then the one that belongs to this program.
std::vector<std::filesystem::path> plugin_folders();

/// For each of the folders that anyone on this machine can write to, a sentence that says so: who can put a library there runs
/// code as whoever runs gnnbench.
std::vector<std::string> exposed_folders(const std::vector<std::filesystem::path>& folders);

/// The plugins there are: files lib<kind>_<name>.so in a list of folders. Looking for one opens no other.
class PluginCatalog {
public:
    explicit PluginCatalog(std::vector<std::filesystem::path> folders = plugin_folders());

    const std::vector<std::filesystem::path>& folders() const { return folders_; }
    /// Names of a kind in alphabetical order, refused ones too: opens nothing.
    std::vector<std::string> names(PluginKind kind) const;
    /// Fills in what a file says of itself, or why it is refused.
    using Examine = std::function<void(ListedPlugin&)>;
    /// Examines every file that is not shadowed. By kind, then name, then search order.
    std::vector<ListedPlugin> list(const Examine& examine = examine_here) const;
    /// Opens the library in this process, for good: whatever it does when it is opened happens here.
    static void examine_here(ListedPlugin& plugin);

    /// These throw PluginError: for a name that is not there (with the nearest that is), for a file that is refused.
    PluginDescription find(PluginKind kind, std::string_view name) const;
    std::unique_ptr<Strategy> strategy(std::string_view name) const;
    std::unique_ptr<Partitioner> partitioner(std::string_view name) const;
    std::unique_ptr<KernelPlugin> kernel(std::string_view name) const;

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
