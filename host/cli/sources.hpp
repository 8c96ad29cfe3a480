#pragma once
#include <map>
#include <memory>

#include "data/catalog.hpp"
#include "plugin/loader.hpp"
#include "spec/sources.hpp"

namespace gnnbench {

/// The plugins of this program's folders, for experiments. Each is loaded when it is first asked for.
class CatalogPlugins : public PluginSource {
public:
    CatalogPlugins();
    ~CatalogPlugins() override;
    std::vector<std::string> names(PluginKind kind) const override;
    std::optional<PluginFacts> find(PluginKind kind, std::string_view name) const override;
    const Strategy& strategy(std::string_view name) const override;
    const Partitioner& partitioner(std::string_view name) const override;
    const KernelPlugin& kernel(std::string_view name) const override;

private:
    PluginCatalog catalog_;
    mutable std::map<std::string, std::unique_ptr<Strategy>, std::less<>> strategies_;
    mutable std::map<std::string, std::unique_ptr<Partitioner>, std::less<>> partitioners_;
    mutable std::map<std::string, std::unique_ptr<KernelPlugin>, std::less<>> kernels_;
};

/// The stores of a catalog, and the generators and importers this program has.
class CatalogDatasets : public DatasetSource {
public:
    explicit CatalogDatasets(const Catalog& catalog) : catalog_(catalog) {}
    std::vector<std::string> stores() const override;
    std::vector<DatasetForm> generators() const override;
    std::vector<DatasetForm> formats() const override;
    std::string detect_format(const std::filesystem::path& path) const override;
    std::string shown_name(const nlohmann::json& source) const override;

private:
    const Catalog& catalog_;
};

}  // namespace gnnbench
