#include <data/importers/plugin_format.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/importer.hpp>
#include <gnnbench/usize.hpp>

#include <data/importers/formats.hpp>
#include <data/options.hpp>
#include <data/external_graph.hpp>

#include "plugin/description.hpp"
#include "plugin/loader.hpp"

namespace gnnbench {

namespace fs = std::filesystem;

namespace {

/// What the host itself obeys for every importer.
constexpr auto given_params =
    joined(std::array<ParamDecl, 4>{{
               {"directed", ParamType::choice, "auto", 0, 0, "auto|true|false",
                "an edge u v lets v aggregate from u; if false, u also from v; auto: as the importer says"},
               loops_param,
               repeats_param,
               reverse_param,
           }},
           fill_params);

bool of_this_version(const ListedPlugin& plugin) {
    try {
        const auto said = read_description(plugin.file);
        return said && why_not_loaded(*said).empty();
    } catch (const PluginError&) {
        return false;
    }
}

/// Edges as an importer hands them over.
class ImporterEdges final : public EdgeSink {
public:
    ImporterEdges(std::string_view importer, const fs::path& path, const Params& params, const MemoryBudget& room)
        : importer_(importer), file_(path.string()), params_(params), room_(room) {}

    void begin(const EdgeListing& listing) override {
        if (edges_) fail("begins its edges a second time, or after the first edge");
        const std::string& directed = params_.choice("directed");
        const bool both = directed == "auto" ? listing.undirected : directed == "false";
        weighted_ = listing.weighted;
        edges_.emplace(file_,
                       EdgePolicy{both ? Listing::undirected : Listing::directed, loops_policy(params_),
                                  repeats_policy(params_)},
                       room_);
        edges_->expect(weighted_, false);
    }

    void add(std::span<const std::int32_t> source, std::span<const std::int32_t> target,
             std::span<const float> weight) override {
        if (!edges_) begin({});
        if (source.size() != target.size() || weight.size() != (weighted_ ? source.size() : 0))
            fail(fmt::format("adds {} sources, {} targets and {} weights to edges that are{} weighted",
                             source.size(), target.size(), weight.size(), weighted_ ? "" : " not"));
        const bool reverse = params_.boolean("reverse");
        for (std::size_t e = 0; e < source.size(); ++e) {
            const std::int32_t u = source[e], v = target[e];
            if (u < 0 || v < 0) fail(fmt::format("adds edge {} → {}; vertices count from 0", u, v));
            largest_ = std::max({largest_, u, v});
            edges_->add(reverse ? v : u, reverse ? u : v, weighted_ ? weight[e] : 1.0f);
        }
    }

    void finish(RawDataset& data, std::int64_t vertices, std::int64_t feature_count) {
        if (!edges_) begin({});
        if (largest_ >= vertices)
            fail(fmt::format("adds an edge of vertex {} and states {} vertices", largest_, vertices));
        edges_->finish(data, vertices, feature_count);
    }

    [[noreturn]] void fail(const std::string& what) const {
        throw DataError(fmt::format("{}: the importer '{}' {}", file_, importer_, what));
    }

private:
    std::string importer_, file_;
    const Params& params_;
    const MemoryBudget& room_;
    std::optional<EdgeCollector> edges_;
    bool weighted_ = false;
    std::int32_t largest_ = -1;
};

void check_lengths(const ImportedData& d, const ImporterEdges& edges) {
    const auto check = [&](const char* array, std::size_t found, std::int64_t rows, std::int64_t columns) {
        const auto expected = usize(rows) * usize(columns);
        if (found > 0 && found != expected)
            edges.fail(fmt::format("gives {} {}, expected {} × {}", found, array, rows, columns));
    };
    if (d.vertices < 1 || d.vertices > INT32_MAX)
        edges.fail(fmt::format("states {} vertices, allowed are 1 to {}", d.vertices, INT32_MAX));
    if (d.feature_count < 0 || d.classes < 0 || d.splits < 0)
        edges.fail(
            fmt::format("states {} features, {} classes and {} splits", d.feature_count, d.classes, d.splits));
    if (!d.labels.empty() && !d.label_matrix.empty()) edges.fail("gives both labels and a label matrix");
    check("features", d.features.size(), d.vertices, d.feature_count);
    check("labels", d.labels.size(), d.vertices, 1);
    check("elements of the label matrix", d.label_matrix.size(), d.vertices, d.classes);
    check("masks", d.masks.size(), d.splits, d.vertices);
}

/// Its own words for whatever an importer throws that is none of our errors.
ImportedData read_by(const Importer& importer, const fs::path& path, const Params& params, ImporterEdges& edges) {
    try {
        return importer.read(path, params, edges);
    } catch (const Error&) {
        throw;
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& e) {
        edges.fail(fmt::format("failed: {}", e.what()));
    }
}

}  // namespace

std::vector<std::string> plugin_formats() {
    std::vector<std::string> names;
    PluginCatalog().list([&](ListedPlugin& plugin) {
        if (plugin.kind == PluginKind::importer && of_this_version(plugin)) names.push_back(plugin.name);
    });
    return names;
}

std::string detect_plugin_format(const fs::path& path) {
    const PluginCatalog catalog;
    for (const std::string& name : plugin_formats()) try {
            if (catalog.importer(name)->recognises(path)) return name;
        } catch (const std::exception&) {
            continue;  // `gnnbench plugin list` says why
        }
    return {};
}

std::string plugin_format_summary(std::string_view name) {
    return PluginCatalog().find(PluginKind::importer, name).summary;
}

std::string plugin_format_version(std::string_view name) {
    return PluginCatalog().find(PluginKind::importer, name).version;
}

std::span<const ParamDecl> plugin_format_params(std::string_view name) {
    static std::mutex extending;
    static std::map<fs::path, std::vector<ParamDecl>>
        extended;  // they live as long as the process, as the plugin's do
    const PluginDescription plugin = PluginCatalog().find(PluginKind::importer, name);
    const std::lock_guard lock(extending);
    auto& all = extended[plugin.file];
    if (!all.empty()) return all;
    for (const ParamDecl& declared : plugin.params)
        for (const ParamDecl& given : given_params)
            if (std::string_view(declared.name) == given.name)
                throw PluginError(
                    fmt::format("{} declares a parameter '{}', which every importer has from the host",
                                plugin.file.string(), declared.name));
    all.assign(plugin.params.begin(), plugin.params.end());
    all.insert(all.end(), given_params.begin(), given_params.end());
    return all;
}

std::vector<fs::path> plugin_format_inputs(std::string_view name, const fs::path& path) {
    return PluginCatalog().importer(name)->inputs(path);
}

RawDataset read_plugin_format(std::string_view name, const fs::path& path, const Params& params,
                              const MemoryBudget& room) {
    if (!is_there(path)) throw DataError(fmt::format("cannot read {}: there is no such file", path.string()));
    ImporterEdges edges(name, path, params, room);
    ImportedData read = read_by(*PluginCatalog().importer(name), path, params, edges);
    check_lengths(read, edges);
    RawDataset data;
    data.name = std::move(read.name);
    if (!read.features.empty()) data.feature_count = read.feature_count;
    data.features = std::move(read.features);
    data.classes = read.classes;
    if (!read.labels.empty() && data.classes == 0) data.classes = std::max(1, std::ranges::max(read.labels) + 1);
    data.labels = std::move(read.labels);
    data.label_matrix = std::move(read.label_matrix);
    if (!read.masks.empty()) data.splits = read.splits;
    data.masks = std::move(read.masks);
    edges.finish(data, read.vertices, data.features.empty() ? params.integer("features") : data.feature_count);
    return data;
}

}  // namespace gnnbench
