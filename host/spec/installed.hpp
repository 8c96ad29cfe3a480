#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "data/catalog.hpp"
#include "plugin/loader.hpp"
#include "spec/setting.hpp"
#include "spec/sources.hpp"

namespace gnnbench {

/// The plugins of a catalog; each is opened at its first lookup.
class InstalledPlugins : public PluginSource {
public:
    explicit InstalledPlugins(PluginCatalog catalog = PluginCatalog());
    ~InstalledPlugins() override;
    std::vector<std::string> names(PluginKind kind) const override;
    std::optional<PluginFacts> find(PluginKind kind, std::string_view name) const override;
    const Strategy& strategy(std::string_view name) const override;
    const Partitioner& partitioner(std::string_view name) const override;
    const BackendPlugin& kernel(std::string_view name) const override;
    const PluginCatalog& catalog() const { return catalog_; }

private:
    PluginCatalog catalog_;
    mutable std::mutex opening_;
    mutable std::map<std::pair<PluginKind, std::string>, PluginFacts> facts_;  ///< of what was looked up
    mutable std::map<std::string, std::unique_ptr<Strategy>, std::less<>> strategies_;
    mutable std::map<std::string, std::unique_ptr<Partitioner>, std::less<>> partitioners_;
    mutable std::map<std::string, std::unique_ptr<BackendPlugin>, std::less<>> backends_;
};

/// The stores of a catalog, and the built-in generators and file formats.
class InstalledDatasets : public DatasetSource {
public:
    explicit InstalledDatasets(Catalog catalog) : catalog_(std::move(catalog)) {}
    std::vector<std::string> stores() const override;
    std::vector<DatasetForm> generators() const override;
    DatasetForm expectation() const override;
    std::vector<DatasetForm> formats() const override;
    std::string detect_format(const std::filesystem::path& path) const override;
    void complete(DatasetChoice& choice) const override;

private:
    Catalog catalog_;
};

/// From the store's manifest; empty where there is no store yet.
std::optional<DatasetFacts> facts_of(const DatasetChoice& choice);

}  // namespace gnnbench
