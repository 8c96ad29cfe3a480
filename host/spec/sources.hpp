#pragma once
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gnnbench/params.hpp>
#include <gnnbench/plugin.hpp>

namespace gnnbench {

class Strategy;
class Partitioner;
class BackendPlugin;
struct DatasetChoice;

/// A plugin's declaration. The parameters live as long as the source that returned them.
struct PluginFacts {
    std::string version, summary;
    std::span<const ParamDecl> params;
    std::filesystem::path file{};  ///< its library; empty where it has none
    bool in_host_memory = false;   ///< of a kernel: it needs no device of its own for each rank
    bool simulates = false;        ///< of a kernel: its ranks are simulated in one process
};

/// The available plugins, which an experiment file may name, and their answers about a setting. The plugin loader
/// implements it; tests use a fake. Everything returned lives as long as the source.
class PluginSource {
public:
    virtual ~PluginSource();
    /// Sorted.
    virtual std::vector<std::string> names(PluginKind kind) const = 0;
    /// Empty if there is none of that name. Throws PluginError if there is one that cannot be used.
    virtual std::optional<PluginFacts> find(PluginKind kind, std::string_view name) const = 0;
    /// Throw PluginError where the plugin cannot be loaded.
    virtual const Strategy& strategy(std::string_view name) const = 0;
    virtual const Partitioner& partitioner(std::string_view name) const = 0;
    virtual const BackendPlugin& kernel(std::string_view name) const = 0;
};

/// A way to make a dataset: a generator, or a format of files, with the parameters it declares.
struct DatasetForm {
    std::string name, summary;
    std::span<const ParamDecl> params;
};

/// The possible datasets: stores by name, generators, files.
class DatasetSource {
public:
    virtual ~DatasetSource();
    /// Names of the stores that exist, sorted.
    virtual std::vector<std::string> stores() const = 0;
    virtual std::vector<DatasetForm> generators() const = 0;
    /// The form for a graph that is only expected; its name is the key.
    virtual DatasetForm expectation() const = 0;
    virtual std::vector<DatasetForm> formats() const = 0;
    /// The format of a file or folder, from its name. Throws DataError if the name does not determine it.
    virtual std::string detect_format(const std::filesystem::path& path) const = 0;
    /// Given its source, a dataset's name, and digest and store if that exists.
    virtual void complete(DatasetChoice& choice) const = 0;
};

/// The word in messages and YAML: "scheme", "partitioner", "kernel".
const char* yaml_word(PluginKind kind);

}  // namespace gnnbench
