#include <data/import.hpp>

#include <algorithm>
#include <array>
#include <new>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>
#include <gnnbench/spelling.hpp>

#include <data/fill.hpp>
#include <data/importers/formats.hpp>
#include <data/importers/plugin_format.hpp>
#include <data/options.hpp>
#include <data/external_graph.hpp>
#include <data/store_external.hpp>
#include <data/text_input.hpp>

#include "core/memory_cap.hpp"
#include "core/printable.hpp"

namespace gnnbench {

namespace fs = std::filesystem;

namespace {

// Order matters where names overlap: ind.cora.graph belongs to Planetoid, not to METIS; adj_full.npz to GraphSAINT.
std::span<const ImportFormat* const> formats() {
    static constexpr std::array all{&planetoid_format, &linqs_format,    &graphsaint_format, &reddit_format,
                                    &ogb_format,       &npz_format,      &triples_format,    &matrix_market_format,
                                    &metis_format,     &edge_list_format};
    return all;
}

/// Null: a plugin's.
const ImportFormat* format_named(std::string_view name) {
    for (auto f : formats())
        if (name == f->name) return f;
    auto known = importer_formats();
    if (std::ranges::find(known, name) != known.end()) return nullptr;
    throw SpecError(fmt::format("unknown dataset format '{}'; known are {}{}", name, fmt::join(known, ", "),
                                did_you_mean(name, known)));
}

fs::path without_compression(const fs::path& path) {
    for (auto ending : {".gz", ".zst", ".xz", ".bz2"})
        if (path.extension() == ending) return fs::path(path).replace_extension();
    return path;
}

RawDataset read_input(const std::string& format, const fs::path& path, const Params& params,
                      const MemoryBudget& room) {
    try {
        const MemoryCap cap(room.memory_bytes, "this import (`gnnbench dataset import --memory` allows more)");
        const ImportFormat* const built_in = format_named(format);
        return built_in ? built_in->read(path, params, room) : read_plugin_format(format, path, params, room);
    } catch (const std::bad_alloc&) {
        throw EnvironmentError(fmt::format(
            "{}: this machine has not enough memory for the sizes that the file states", path.string()));
    } catch (const std::length_error&) {
        throw DataError(fmt::format("{}: it states sizes beyond any memory; the file is damaged", path.string()));
    }
}

/// The file with the terms of a dataset's folder; empty where there is none. Beside a single file it may be of others.
fs::path licence_file(const fs::path& path) {
    for (auto name : {"LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE", "LICENCE.txt", "LICENCE.md"})
        if (is_there(path / name)) return path / name;
    return {};
}

/// As the option says, or else the first line of the folder's licence file.
std::string licence_of(const fs::path& path, const Params& params) {
    if (const auto& given = params.text("licence"); !given.empty()) return given;
    const auto file = licence_file(path);
    if (file.empty()) return "unknown";
    constexpr std::size_t longest = 200;
    LineReader reader(file);
    for (std::string_view line; reader.next(line);)
        if (const auto first = line.find_first_not_of(" \t#"); first != line.npos)
            return printable(line.substr(first, longest));
    return "unknown";
}

}  // namespace

std::vector<std::string> importer_formats() {
    std::vector<std::string> names;
    for (auto f : formats()) names.emplace_back(f->name);
    for (auto& name : plugin_formats()) names.push_back(std::move(name));
    std::ranges::sort(names);
    names.erase(std::ranges::unique(names).begin(), names.end());  // of one name, the built-in format counts
    return names;
}

std::vector<ImportForm> import_forms() {
    std::vector<ImportForm> forms;
    for (const auto& name : importer_formats()) try {
            forms.push_back({name, importer_summary(name), importer_params(name)});
        } catch (const PluginError&) {
            continue;  // `gnnbench plugin list` says why
        }
    return forms;
}

std::string importer_summary(std::string_view format) {
    const ImportFormat* const built_in = format_named(format);
    return built_in ? built_in->summary : plugin_format_summary(format);
}

std::span<const ParamDecl> importer_params(std::string_view format) {
    const ImportFormat* const built_in = format_named(format);
    return built_in ? built_in->params : plugin_format_params(format);
}

std::string importer_version(std::string_view format) {
    const ImportFormat* const built_in = format_named(format);
    return built_in ? built_in->version : plugin_format_version(format);
}

std::string detect_format(const fs::path& path) {
    for (auto f : formats())
        if (f->recognises(path)) return f->name;
    if (auto name = detect_plugin_format(path); !name.empty()) return name;
    std::vector<std::string> known;
    for (auto f : formats()) known.push_back(fmt::format("  {}: {}", f->name, f->summary));
    for (const auto& name : plugin_formats()) known.push_back(fmt::format("  {}: a plugin's", name));
    throw DataError(fmt::format("{}: its name does not determine its format; set `format:` to one of\n{}",
                                path.string(), fmt::join(known, "\n")));
}

RawDataset import_file(const fs::path& path, const std::string& format, const nlohmann::json& options,
                       const MemoryBudget& room) {
    const std::string chosen = format.empty() ? detect_format(path) : format;
    auto params =
        resolve_params(importer_params(chosen), options, fmt::format("options of {} ({})", path.string(), chosen));
    auto fill = fill_spec(params);
    auto data = read_input(chosen, path, params, room);
    if (vertices_of(data) == 0)
        throw DataError(fmt::format("{}: it has no vertices; a dataset needs at least one", path.string()));
    if (data.name.empty()) data.name = input_name(path);
    data.source = path.string();
    data.licence = licence_of(path, params);
    data.options.update(to_json(params));  // beside what the importer says of what it did
    data.options["format"] = chosen;
    if (data.outside)
        fill_later(data, fill);
    else
        fill_missing(data, fill);
    return data;
}

std::vector<fs::path> import_inputs(const fs::path& path, const std::string& format) {
    const std::string chosen = format.empty() ? detect_format(path) : format;
    const ImportFormat* const built_in = format_named(chosen);
    auto files = !built_in          ? plugin_format_inputs(chosen, path)
                 : built_in->inputs ? built_in->inputs(path)
                                    : std::vector{path};
    if (auto licence = licence_file(path); !licence.empty()) files.push_back(std::move(licence));
    return files;
}

std::string input_name(const fs::path& path) {
    auto name = without_compression(path.filename().empty() ? path.parent_path() : path).filename().string();
    if (name.starts_with("ind.")) return name.substr(4, name.find('.', 4) - 4);  // Planetoid's ind.cora.x
    auto cut = name.rfind('.');
    if (cut != name.npos && cut > 0) name.resize(cut);
    return name.ends_with(".edges") ? name.substr(0, name.size() - 6) : name;
}

bool ends_with_any(const fs::path& path, std::span<const char* const> endings) {
    auto extension = without_compression(path).extension();
    return std::ranges::any_of(endings, [&](auto e) { return extension == e; });
}

bool is_there(const fs::path& path) {
    std::error_code unknown;
    return fs::exists(path, unknown);
}

Loops loops_policy(const Params& params) { return params.choice("loops") == "drop" ? Loops::drop : Loops::keep; }

Repeats repeats_policy(const Params& params) {
    const auto& word = params.choice("repeats");
    return word == "sum" ? Repeats::sum : word == "error" ? Repeats::error : Repeats::drop;
}

EdgePolicy listed_policy(const Params& params) {
    return {params.boolean("directed") ? Listing::directed : Listing::undirected, loops_policy(params),
            repeats_policy(params)};
}

RawGraph build_listed(EdgeList edges, const Params& params) {
    if (params.boolean("reverse")) std::swap(edges.source, edges.target);
    return build_graph(std::move(edges), listed_policy(params));
}

}  // namespace gnnbench
