#include <data/manifest.hpp>

#include <fstream>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "core/json_nesting.hpp"

namespace gnnbench {

using nlohmann::json;
using namespace nlohmann::literals;

namespace {

constexpr const char* kind = "gnnbench-dataset";

/// Calls field(key, member) for everything but the format; reading and writing share it.
template <class M, class Field>
void each_field(M& m, Field field) {
    field("name", m.name);
    field("vertices", m.vertices);
    field("edges", m.edges);
    field("features", m.features);
    field("classes", m.classes);
    field("multi_label", m.multi_label);
    field("splits", m.splits);
    field("weighted", m.weighted);
    field("symmetric_pattern", m.symmetric_pattern);
    field("symmetric_weights", m.symmetric_weights);
    field("transpose", m.transpose);
    field("tiles", m.tiles);
    field("self_loops", m.self_loops);
    field("listed_edges", m.listed_edges);
    field("loops_dropped", m.loops_dropped);
    field("repeats_merged", m.repeats_merged);
    field("synthetic", m.synthetic);
    field("digest", m.digest);
    field("source", m.source);
    field("licence", m.licence);
    field("options", m.options);
}

}  // namespace

namespace {

/// A generator's report, absent from older stores and others: what is shown of it must be numbers.
void check_report(const json& report, const std::string& file) {
    if (report.is_null()) return;
    for (const char* field :
         {"/degrees/wanted_mean", "/degrees/reached_mean", "/degrees/wanted_maximum", "/degrees/reached_maximum",
          "/degrees/kolmogorov_smirnov", "/clustering/reached_mean", "/components", "/largest_component"})
        if (const json::json_pointer place(field); !report.contains(place) || !report[place].is_number())
            throw DataError(fmt::format("{}: \"report{}\" is no number", file, field));
    for (const char* field : {"/clustering/wanted_mean", "/clustering/mean_error"})
        if (const json::json_pointer place(field); report.contains("/clustering/wanted_mean"_json_pointer) &&
                                                   (!report.contains(place) || !report[place].is_number()))
            throw DataError(fmt::format("{}: \"report{}\" is no number", file, field));
}

}  // namespace

json to_json(const Manifest& manifest) {
    json j = {{"format", kind}, {"version", Manifest::format_version}};
    each_field(manifest, [&](const char* key, const auto& member) { j[key] = member; });
    if (!manifest.report.is_null()) j["report"] = manifest.report;
    return j;
}

Manifest manifest_from_json(const json& j, const std::string& file) {
    if (!j.is_object() || !j.contains("format") || j["format"] != kind)
        throw DataError(fmt::format("{}: expected a dataset's manifest (\"format\": \"{}\")", file, kind));
    if (!j.contains("version") || j["version"] != Manifest::format_version)
        throw DataError(
            fmt::format("{}: its format version is {}, this program reads {}; import the dataset again", file,
                        j.value("version", json()).dump(), Manifest::format_version));
    Manifest m;
    each_field(m, [&](const char* key, auto& member) {
        if (const std::string_view k = key;
            !j.contains(key) && (k == "multi_label" || k == "transpose" || k == "tiles"))
            return;  // older stores have one label each, no transpose and no tiles
        if (!j.contains(key)) throw DataError(fmt::format("{}: \"{}\" is missing", file, key));
        try {
            j[key].get_to(member);
        } catch (const json::exception&) {
            throw DataError(fmt::format("{}: \"{}\" cannot be {}", file, key, j[key].dump()));
        }
    });
    m.report = j.value("report", json());
    check_report(m.report, file);
    return m;
}

Manifest read_manifest(const std::filesystem::path& file) {
    std::ifstream in(file);
    if (!in) throw DataError(fmt::format("cannot read {}: a dataset's folder has a manifest.json", file.string()));
    const std::string text(std::istreambuf_iterator<char>(in), {});
    if (nested_deeper(text))
        throw DataError(fmt::format("{}: it is nested too deep; import the dataset again", file.string()));
    auto j = json::parse(text, nullptr, false);
    if (j.is_discarded())
        throw DataError(fmt::format("{}: it is not JSON; import the dataset again", file.string()));
    return manifest_from_json(j, file.string());
}

}  // namespace gnnbench
