#include "cli/sources.hpp"

#include <algorithm>

#include <gnnbench/kernel.hpp>
#include <gnnbench/partition.hpp>
#include <gnnbench/strategy.hpp>

#include "data/generate.hpp"
#include "data/import.hpp"

namespace gnnbench {

namespace {

/// The plugin of this name, loaded once.
template <class Plugins, class Load>
const auto& loaded(Plugins& plugins, std::string_view name, const Load& load) {
    auto found = plugins.find(name);
    if (found == plugins.end()) found = plugins.emplace(std::string(name), load()).first;
    return *found->second;
}

}  // namespace

CatalogPlugins::CatalogPlugins() = default;
CatalogPlugins::~CatalogPlugins() = default;

std::vector<std::string> CatalogPlugins::names(PluginKind kind) const { return catalog_.names(kind); }

std::optional<PluginFacts> CatalogPlugins::find(PluginKind kind, std::string_view name) const {
    const std::vector<std::string> all = catalog_.names(kind);
    if (std::find(all.begin(), all.end(), name) == all.end()) return std::nullopt;
    const PluginDescription plugin = catalog_.find(kind, name);
    return PluginFacts{plugin.version, plugin.summary, plugin.params};
}

const Strategy& CatalogPlugins::strategy(std::string_view name) const {
    return loaded(strategies_, name, [&] { return catalog_.strategy(name); });
}

const Partitioner& CatalogPlugins::partitioner(std::string_view name) const {
    return loaded(partitioners_, name, [&] { return catalog_.partitioner(name); });
}

const KernelPlugin& CatalogPlugins::kernel(std::string_view name) const {
    return loaded(kernels_, name, [&] { return catalog_.kernel(name); });
}

std::vector<std::string> CatalogDatasets::stores() const {
    std::vector<std::string> names;
    for (const CatalogEntry& entry : catalog_.list()) names.push_back(entry.folder);
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<DatasetForm> CatalogDatasets::generators() const {
    std::vector<DatasetForm> forms;
    for (const std::string& kind : generator_kinds()) forms.push_back({kind, generator_summary(kind), generator_params(kind)});
    return forms;
}

std::vector<DatasetForm> CatalogDatasets::formats() const {
    std::vector<DatasetForm> forms;
    for (const std::string& format : importer_formats())
        forms.push_back({format, importer_summary(format), importer_params(format)});
    return forms;
}

std::string CatalogDatasets::detect_format(const std::filesystem::path& path) const {
    return gnnbench::detect_format(path);
}

std::string CatalogDatasets::shown_name(const nlohmann::json& source) const {
    return resolve_dataset(source, catalog_).name;
}

}  // namespace gnnbench
