#include "spec/schema.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "spec/fields.hpp"
#include "spec/schema_forms.hpp"
#include "spec/yaml.hpp"

namespace gnnbench {
namespace {

using nlohmann::ordered_json;
using T = FieldType;

ordered_json list_of(const ordered_json& item) { return {{"type", "array"}, {"items", item}, {"minItems", 1}}; }

/// One value of a field.
ordered_json item(const Field& f) {
    ordered_json j;
    switch (f.type) {
        case T::boolean:
            return {{"type", "boolean"}};
        case T::integer:
            j = {{"type", "integer"}};
            break;
        case T::real:
            j = {{"type", "number"}};
            break;
        case T::text:
        case T::folder:
            return {{"type", "string"}};
        case T::texts:
            return {{"type", "array"}, {"items", {{"type", "string"}}}};
        case T::word:
            return {{"enum", f.words}};
        case T::widths:
        case T::count_per_layer:
        case T::per_layer: {
            ordered_json one{{"type", f.type == T::per_layer ? "number" : "integer"}};
            put_range(one, f.range);
            if (f.type == T::widths) return {{"type", "array"}, {"items", one}};
            return any_of({one, list_of(one)});
        }
        case T::slowdown:
            return {{"type", "object"},
                    {"additionalProperties", false},
                    {"properties",
                     {{"jitter", {{"type", "number"}, {"minimum", 0}, {"maximum", 1}, {"default", 0}}},
                      {"spread", {{"type", "number"}, {"minimum", 0}, {"maximum", 1}, {"default", 0}}},
                      {"lasts", {{"type", "number"}, {"minimum", 0.000001}, {"maximum", 1000000}}}}},
                    {"patternProperties",
                     {{"^(0|[1-9][0-9]*)$", {{"type", "number"}, {"minimum", 1}, {"maximum", 1000000}}}}}};
        default:
            return reference(f.path);
    }
    put_range(j, f.range);
    return j;
}

ordered_json default_of(const Field& f) {
    Findings findings;
    const YamlNode node = parse_yaml_value(f.fallback, "default", findings);
    double v = 0;
    if (f.type == T::widths || f.type == T::texts || f.type == T::slowdown) return ordered_json::parse(f.fallback);
    if (node.is(YamlNode::Kind::boolean)) return is_true(node);
    return to_real(node, v) ? schema_number(v) : ordered_json(node.text);
}

/// Description and default before the allowed values: draft-07 ignores keys beside a $ref.
ordered_json described(const Field& f, const ordered_json& allowed) {
    ordered_json j;
    j["description"] = f.computed ? fmt::format("{} (default: {})", f.help, f.computed) : std::string(f.help);
    if (f.fallback) j["default"] = default_of(f);
    if (allowed.contains("$ref"))
        j["allOf"] = ordered_json::array({allowed});
    else
        j.update(allowed);
    return j;
}

ordered_json varied(const ordered_json& one) { return any_of({one, list_of(one)}); }

ordered_json section_schema(const Section& section) {
    ordered_json properties = ordered_json::object();
    for (const Field& f : fields())
        if (section_of(f.path) == section.name) properties[std::string(last_word(f.path))] = described(f, item(f));
    ordered_json mapping{{"type", "object"}, {"additionalProperties", false}, {"properties", properties}};
    if (!section.short_for) return mapping;
    return any_of({item(*find_field(fmt::format("{}.{}", section.name, section.short_for))), mapping});
}

/// The keys that may vary, each with what `allowed` makes of one value.
template <class Allowed>
ordered_json varying_keys(Allowed allowed) {
    ordered_json properties = ordered_json::object();
    for (const Field& f : fields()) {
        if (!f.varies) continue;
        ordered_json j{{"description", f.help}};
        j.update(allowed(item(f)));
        properties[f.path] = j;
    }
    for (const Section& s : sections())
        if (s.varies) properties[s.name] = allowed(reference(s.name));
    return properties;
}

ordered_json closed(ordered_json properties) {
    return {{"type", "object"}, {"minProperties", 1}, {"additionalProperties", false}, {"properties", properties}};
}

/// Draft-07 ignores keys beside a $ref.
ordered_json one(const ordered_json& allowed) {
    return allowed.contains("$ref") ? ordered_json{{"allOf", ordered_json::array({allowed})}} : allowed;
}

ordered_json rule_schema(bool excludes) {
    ordered_json properties = varying_keys(one);
    if (excludes) {
        properties["where"] = {{"description",
                                "Excludes the cells that match this expression over their fields: "
                                "scheme = 'serial' AND gpus > 1"},
                               {"type", "string"}};
        properties["reason"] = {{"description", "Why; plan tells it"}, {"type", "string"}};
    }
    return closed(properties);
}

ordered_json matrix_schema() {
    ordered_json properties = varying_keys(varied);
    const auto described_rule = [](const char* help, const char* rule) {
        ordered_json j{{"description", help}};
        j.update(varied(reference(rule)));
        return j;
    };
    properties["zip"] = described_rule("Lists of equal length that vary together instead of multiplying", "zip");
    properties["exclude"] = described_rule("Cells to exclude, before any are included", "exclude");
    properties["include"] = described_rule("Values to add to matching cells, or further cells", "include");
    return {{"description", "Keys that vary: every list multiplies; any other value holds for all cells"},
            {"type", "object"},
            {"additionalProperties", false},
            {"properties", properties}};
}

ordered_json scaling_schema() {
    const ordered_json gpus = list_of(item(*find_field("gpus")));
    const auto form = [](ordered_json properties, const ordered_json& required) -> ordered_json {
        return {{"type", "object"},
                {"additionalProperties", false},
                {"required", required},
                {"properties", std::move(properties)}};
    };
    ordered_json j{
        {"description",
         "The experiment's numbers of GPUs, over which tables and figures show efficiency: one problem on "
         "more and more, or a dataset whose parameter `per` grows as they do"}};
    j.update(any_of({form({{"strong", gpus}}, {"strong"}),
                     form({{"weak", gpus}, {"per", {{"type", "string"}}}}, {"weak", "per"})}));
    return j;
}

ordered_json top_level() {
    ordered_json properties = ordered_json::object();
    for (const Field& f : fields()) {
        if (last_word(f.path) != f.path) continue;
        properties[f.path] = described(f, f.varies ? varied(item(f)) : item(f));
    }
    for (const Section& s : sections()) {
        ordered_json j{{"description", s.help}};
        j.update(s.varies ? varied(reference(s.name))
                          : ordered_json{{"allOf", ordered_json::array({reference(s.name)})}});
        properties[s.name] = j;
    }
    properties["matrix"] = reference("matrix");
    properties["scaling"] = scaling_schema();
    return properties;
}

/// The keys that compose a file from others.
void put_file_keys(ordered_json& properties) {
    properties["imports"] = {{"description",
                              "Files whose keys apply unless this file overrides them; paths start at its "
                              "folder, and later files override earlier ones"}};
    properties["imports"].update(varied({{"type", "string"}}));
    properties["profiles"] = {{"description", "Named variants of the experiment, whose keys override the others"},
                              {"type", "object"},
                              {"additionalProperties", reference("profile")}};
    properties["profile"] = {{"description", "The default profile, if --profile is not given"},
                             {"type", "string"}};
}

/// A required key may be at the top level or in the matrix, or come from an imported file.
ordered_json requirements() {
    ordered_json all = ordered_json::array();
    for (const Field& f : fields()) {
        if (!f.required()) continue;
        const ordered_json at_top{{"required", {f.path}}};
        all.push_back(any_of({at_top,
                              {{"required", {"matrix"}}, {"properties", {{"matrix", at_top}}}},
                              {{"required", {"matrix"}}, {"properties", {{"matrix", {{"required", {"zip"}}}}}}},
                              {{"required", {"imports"}}},
                              {{"required", {"profiles"}}}}));
    }
    return all;
}

}  // namespace

nlohmann::ordered_json experiment_schema(const PluginSource& plugins, const DatasetSource& datasets,
                                         const nlohmann::ordered_json& previous) {
    ordered_json definitions = ordered_json::object();
    for (const Section& s : sections()) definitions[s.name] = section_schema(s);
    definitions["zip"] = closed(varying_keys(list_of));
    definitions["exclude"] = rule_schema(true);
    definitions["include"] = rule_schema(false);
    definitions["matrix"] = matrix_schema();
    definitions["profile"] = {{"type", "object"}, {"additionalProperties", false}, {"properties", top_level()}};
    ordered_json properties = top_level();
    put_file_keys(properties);
    put_datasets(definitions, datasets);
    for (const PluginKind kind : {PluginKind::strategy, PluginKind::partitioner, PluginKind::kernel})
        put_plugins(definitions, kind, plugins, previous);
    return {{"$schema", "http://json-schema.org/draft-07/schema#"},
            {"title", "gnnbench experiment"},
            {"description",
             "Generated from host/spec/fields.cpp and the plugins' declarations: see docs/spec-reference.md"},
            {"type", "object"},
            {"additionalProperties", false},
            {"properties", properties},
            {"allOf", requirements()},
            {"definitions", definitions}};
}

}  // namespace gnnbench
