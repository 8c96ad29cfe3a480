#include <data/manifest.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <limits>
#include <string_view>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <gnnbench/error.hpp>

#include "core/json_nesting.hpp"

namespace gnnbench {

using nlohmann::json;
using namespace nlohmann::literals;

namespace {

constexpr const char* kind = "gnnbench-dataset";

/// Calls field(key, member) for everything but the format and the digests; reading and writing share it.
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
    field("source", m.source);
    field("licence", m.licence);
    field("options", m.options);
}

/// The keys that arithmetic or a table reads.
constexpr std::array digest_keys{"vertices",  "edges",    "features",  "classes",           "multi_label",
                                 "splits",    "weighted", "synthetic", "symmetric_pattern", "symmetric_weights",
                                 "self_loops"};

/// get_to would make numbers of true and of 2.5.
template <class T>
bool has_type_of(const json& value, const T&) {
    if constexpr (std::is_same_v<T, bool>) return value.is_boolean();
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
        return value.is_number_integer() && value >= std::numeric_limits<T>::min() &&
               value <= std::numeric_limits<T>::max();
    return true;
}

void check_counts(const Manifest& m, const std::string& file) {
    const auto check = [&](const char* key, std::int64_t found, std::int64_t least, std::int64_t most) {
        if (found >= least && found <= most) return;
        throw DataError(fmt::format(
            "{}: \"{}\" is {}, allowed {}; import the dataset again", file, key, found,
            most == INT64_MAX ? fmt::format("is {} or more", least) : fmt::format("are {} to {}", least, most)));
    };
    check("vertices", m.vertices, 1, INT32_MAX);
    check("edges", m.edges, 0, INT64_MAX);
    check("features", m.features, 0, INT64_MAX);
    check("classes", m.classes, 0, INT32_MAX);
    check("splits", m.splits, 0, INT32_MAX);
    check("self_loops", m.self_loops, 0, std::min(m.vertices, m.edges));
    check("listed_edges", m.listed_edges, 0, INT64_MAX);
    check("loops_dropped", m.loops_dropped, 0, INT64_MAX);
    check("repeats_merged", m.repeats_merged, 0, INT64_MAX);
}

void check_synthetic(const Manifest& m, const std::string& file) {
    constexpr std::array<std::string_view, 4> parts{"graph", "features", "labels", "masks"};
    for (const std::string& part : m.synthetic)
        if (std::ranges::find(parts, part) == parts.end() || std::ranges::count(m.synthetic, part) > 1)
            throw DataError(fmt::format("{}: \"synthetic\" has '{}', allowed are {}, once each", file, part,
                                        fmt::join(parts, ", ")));
    if (m.options.is_object() && m.options.contains("generate") &&
        std::ranges::find(m.synthetic, "graph") == m.synthetic.end())
        throw DataError(
            fmt::format("{}: \"synthetic\" is {}, without the graph, which \"options\" say was generated", file,
                        json(m.synthetic).dump()));
}

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

std::string dataset_digest(const Manifest& manifest) {
    json keys = {{"content", manifest.content}};
    each_field(manifest, [&](const char* key, const auto& member) {
        if (std::ranges::find(digest_keys, std::string_view(key)) != digest_keys.end()) keys[key] = member;
    });
    const std::string text = keys.dump();
    const XXH128_hash_t h = XXH3_128bits(text.data(), text.size());
    return fmt::format("{:016x}{:016x}", h.high64, h.low64);
}

json to_json(const Manifest& manifest) {
    json j = {{"format", kind}, {"version", Manifest::format_version}};
    each_field(manifest, [&](const char* key, const auto& member) { j[key] = member; });
    j["content"] = manifest.content;
    j["digest"] = manifest.digest;
    if (!manifest.checksums.empty()) j["checksums"] = to_json(manifest.checksums);
    if (!manifest.imported.is_null()) j["imported"] = manifest.imported;
    if (!manifest.report.is_null()) j["report"] = manifest.report;
    return j;
}

namespace {

void read_digests(Manifest& m, const json& j, const std::string& file) {
    const auto read = [&](const char* key, std::string& to) {
        if (!j.contains(key))
            throw DataError(fmt::format("{}: \"{}\" is missing: import or generate it again", file, key));
        if (!j[key].is_string()) throw DataError(fmt::format("{}: \"{}\" cannot be {}", file, key, j[key].dump()));
        to = j[key].get<std::string>();
    };
    read("content", m.content);
    read("digest", m.digest);
    const std::string found = dataset_digest(m);
    if (found != m.digest)
        throw DataError(fmt::format(
            "{}: its keys have the digest {}, it states {}; one of {} was changed after the dataset was "
            "created: import or generate it again",
            file, found, m.digest, fmt::join(digest_keys, ", ")));
}

}  // namespace

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
        const auto impossible = [&] {
            return DataError(fmt::format("{}: \"{}\" cannot be {}", file, key, j[key].dump()));
        };
        if (!has_type_of(j[key], member)) throw impossible();
        try {
            j[key].get_to(member);
        } catch (const json::exception&) {
            throw impossible();
        }
    });
    m.imported = j.value("imported", json());
    m.report = j.value("report", json());
    check_report(m.report, file);
    check_counts(m, file);
    check_synthetic(m, file);
    read_digests(m, j, file);
    if (j.contains("checksums")) m.checksums = checksums_from_json(j["checksums"], file);
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
