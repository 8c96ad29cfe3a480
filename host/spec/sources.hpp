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
class KernelPlugin;
struct DatasetChoice;

/// What a plugin declares. The parameters live as long as the source that told of them.
struct PluginFacts {
    std::string version, summary;
    std::span<const ParamDecl> params;
    std::filesystem::path file{};  ///< its library; empty where it has none
    bool in_host_memory = false;   ///< of a kernel: it needs no device of its own for each rank
};

/// The plugins there are: what an experiment file may name, and what they say to a setting. Whoever loads
/// plugins implements it; tests have one of their own. Everything returned lives as long as the source.
class PluginSource {
public:
    virtual ~PluginSource();
    /// Sorted.
    virtual std::vector<std::string> names(PluginKind kind) const = 0;
    /// Empty where there is none of that name. Throws PluginError where there is one that cannot be used.
    virtual std::optional<PluginFacts> find(PluginKind kind, std::string_view name) const = 0;
    /// Throw PluginError where the plugin cannot be loaded.
    virtual const Strategy& strategy(std::string_view name) const = 0;
    virtual const Partitioner& partitioner(std::string_view name) const = 0;
    virtual const KernelPlugin& kernel(std::string_view name) const = 0;
};

/// A way to make a dataset: a generator, or a format of files, with the parameters it declares.
struct DatasetForm {
    std::string name, summary;
    std::span<const ParamDecl> params;
};

/// The datasets there can be: stores by name, generators, files.
class DatasetSource {
public:
    virtual ~DatasetSource();
    /// Names of the stores that exist, sorted.
    virtual std::vector<std::string> stores() const = 0;
    virtual std::vector<DatasetForm> generators() const = 0;
    virtual std::vector<DatasetForm> formats() const = 0;
    /// The format of a file or folder, told by its name. Throws DataError where it does not tell.
    virtual std::string detect_format(const std::filesystem::path& path) const = 0;
    /// Given its source, a dataset's name, and digest and store if that exists.
    virtual void complete(DatasetChoice& choice) const = 0;
};

/// As messages and YAML say it: "scheme", "partitioner", "kernel".
const char* yaml_word(PluginKind kind);

}  // namespace gnnbench
