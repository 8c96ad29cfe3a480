#include "spec/installed.hpp"

#include <algorithm>

#include <gnnbench/backend.hpp>
#include <gnnbench/strategy.hpp>

#include "data/expectation.hpp"
#include "data/generate.hpp"
#include "data/import.hpp"
#include "plugin/backend_memory.hpp"
#include "spec/cell.hpp"

namespace gnnbench {
namespace {

/// The cached entry for `name`, created at the first call.
template <class T, class Make>
const T& opened(std::map<std::string, std::unique_ptr<T>, std::less<>>& kept, std::mutex& opening,
                std::string_view name, Make make) {
    const std::lock_guard lock(opening);
    auto found = kept.find(name);
    if (found == kept.end()) found = kept.emplace(name, make()).first;
    return *found->second;
}

}  // namespace

InstalledPlugins::InstalledPlugins(PluginCatalog catalog) : catalog_(std::move(catalog)) {}
InstalledPlugins::~InstalledPlugins() = default;

std::vector<std::string> InstalledPlugins::names(PluginKind kind) const { return catalog_.names(kind); }

std::optional<PluginFacts> InstalledPlugins::find(PluginKind kind, std::string_view name) const {
    const std::lock_guard lock(opening_);
    std::pair key(kind, std::string(name));
    if (const auto known = facts_.find(key); known != facts_.end()) return known->second;
    const auto there = catalog_.names(kind);
    if (std::find(there.begin(), there.end(), name) == there.end()) return {};
    PluginDescription d = catalog_.find(kind, name);
    const bool on_host = kind == PluginKind::kernel && in_host_memory(d.file);
    const bool virtual_ranks = kind == PluginKind::kernel && simulates(d.file);
    PluginFacts facts{std::move(d.version), std::move(d.summary), d.params, std::move(d.file), on_host,
                      virtual_ranks};
    return facts_.emplace(std::move(key), std::move(facts)).first->second;
}

const Strategy& InstalledPlugins::strategy(std::string_view name) const {
    return opened(strategies_, opening_, name, [&] { return catalog_.strategy(name); });
}
const Partitioner& InstalledPlugins::partitioner(std::string_view name) const {
    return opened(partitioners_, opening_, name, [&] { return catalog_.partitioner(name); });
}
const BackendPlugin& InstalledPlugins::kernel(std::string_view name) const {
    return opened(backends_, opening_, name, [&] { return catalog_.kernel(name); });
}

std::vector<std::string> InstalledDatasets::stores() const {
    std::vector<std::string> names;
    for (const CatalogEntry& e : catalog_.list()) {
        names.push_back(e.folder);
        if (!e.manifest.name.empty()) names.push_back(e.manifest.name);
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

std::vector<DatasetForm> InstalledDatasets::generators() const {
    std::vector<DatasetForm> forms;
    for (const std::string& kind : generator_kinds())
        forms.push_back({kind, generator_summary(kind), generator_params(kind)});
    return forms;
}

DatasetForm InstalledDatasets::expectation() const {
    return {"expect", expectation_summary(), expectation_params()};
}

std::vector<DatasetForm> InstalledDatasets::formats() const {
    std::vector<DatasetForm> forms;
    for (const ImportForm& form : import_forms()) forms.push_back({form.name, form.summary, form.params});
    return forms;
}

std::string InstalledDatasets::detect_format(const std::filesystem::path& path) const {
    return gnnbench::detect_format(path);
}

void InstalledDatasets::complete(DatasetChoice& choice) const {
    const ResolvedDataset resolved = resolve_dataset(*choice.source, catalog_);
    choice.name = resolved.name;
    choice.digest = resolved.digest;
    choice.store = resolved.digest.empty() ? std::string() : resolved.store.string();
}

std::optional<DatasetFacts> facts_of(const DatasetChoice& choice) {
    if (choice.digest.empty()) return {};
    if (is_expected(*choice.source)) {
        const ExpectedDataset d = expected_dataset(*choice.source);
        return DatasetFacts{{d.vertices, d.entries, false}, d.features, d.classes};
    }
    const Manifest m = read_manifest(std::filesystem::path(choice.store) / "manifest.json");
    return DatasetFacts{{m.vertices, m.edges, m.weighted}, m.features, m.classes};
}

}  // namespace gnnbench
