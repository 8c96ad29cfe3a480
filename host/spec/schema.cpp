#include "spec/schema.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "spec/cell.hpp"
#include "spec/fields.hpp"
#include "spec/yaml.hpp"

namespace gnnbench {
namespace {

using nlohmann::ordered_json;
using T = FieldType;

ordered_json json_number(double v) {
    return v == std::floor(v) && std::abs(v) < 1e18 ? ordered_json(static_cast<std::int64_t>(v)) : ordered_json(v);
}

void put_range(ordered_json& j, const Range& r) {
    if (std::isfinite(r.minimum)) j[r.open_minimum ? "exclusiveMinimum" : "minimum"] = json_number(r.minimum);
    if (std::isfinite(r.maximum)) j[r.open_maximum ? "exclusiveMaximum" : "maximum"] = json_number(r.maximum);
}

ordered_json reference(const std::string& name) { return {{"$ref", "#/definitions/" + name}}; }
ordered_json list_of(const ordered_json& item) { return {{"type", "array"}, {"items", item}, {"minItems", 1}}; }
ordered_json any_of(std::initializer_list<ordered_json> all) { return {{"anyOf", ordered_json(all)}}; }

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
        case T::per_layer: {
            ordered_json one{{"type", f.type == T::widths ? "integer" : "number"}};
            put_range(one, f.range);
            if (f.type == T::widths) return {{"type", "array"}, {"items", one}};
            return any_of({one, list_of(one)});
        }
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
    if (f.type == T::widths || f.type == T::texts) return ordered_json::parse(f.fallback);
    if (node.is(YamlNode::Kind::boolean)) return node.text == "true";
    return to_real(node, v) ? json_number(v) : ordered_json(node.text);
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

ordered_json param_schema(const ParamDecl& p) {
    ordered_json j{{"description", p.help}};
    const std::string text = p.default_value;
    switch (p.type) {
        case ParamType::boolean:
            j["type"] = "boolean";
            j["default"] = text == "true";
            break;
        case ParamType::integer:
        case ParamType::real:
            j["type"] = p.type == ParamType::integer ? "integer" : "number";
            put_range(j, {p.minimum, p.maximum});
            j["default"] = ordered_json::parse(text);
            break;
        case ParamType::choice: {
            j["enum"] = ordered_json::array();
            std::string_view rest = p.choices ? p.choices : "";
            for (std::size_t cut = 0; cut != std::string_view::npos;
                 rest = rest.substr(std::min(cut + 1, rest.size()))) {
                cut = rest.find('|');
                j["enum"].push_back(rest.substr(0, cut));
            }
            j["default"] = text;
        }
    }
    return j;
}

/// A mapping that begins with `key: name`, or may have it, and has declared parameters.
ordered_json form_schema(const std::string& summary, ordered_json properties,
                         const std::vector<std::string>& required, std::span<const ParamDecl> params) {
    for (const ParamDecl& p : params) properties[p.name] = param_schema(p);
    return {{"description", summary},
            {"type", "object"},
            {"additionalProperties", false},
            {"required", required},
            {"properties", properties}};
}

ordered_json split_schema() {
    return {{"description", "Which of the dataset's splits into train, validation and test"},
            {"type", "integer"},
            {"minimum", 0},
            {"default", 0}};
}

ordered_json name_schema() { return {{"description", "Its name in tables"}, {"type", "string"}}; }

void put_datasets(ordered_json& definitions, const DatasetSource& datasets) {
    ordered_json any = ordered_json::array(
        {{{"description", "A stored dataset's name"}, {"type", "string"}},
         {{"type", "object"},
          {"additionalProperties", false},
          {"required", {"store"}},
          {"properties",
           {{"store", {{"description", "A stored dataset's name, or its folder"}, {"type", "string"}}},
            {"split", split_schema()}}}}});
    for (const DatasetForm& g : datasets.generators()) {
        const ordered_json properties{
            {"generate", {{"const", g.name}}}, {"name", name_schema()}, {"split", split_schema()}};
        definitions["generate:" + g.name] = form_schema(g.summary, properties, {"generate"}, g.params);
        any.push_back(reference("generate:" + g.name));
    }
    for (const DatasetForm& f : datasets.formats()) {
        const ordered_json properties{
            {"path",
             {{"description",
               "File or folder; ${VARIABLE} and ${VARIABLE:-otherwise} are replaced, and what is "
               "relative starts at the experiment's folder"},
              {"type", "string"}}},
            {"format", {{"description", "Default: determined by the file's name"}, {"const", f.name}}},
            {"name", name_schema()},
            {"split", split_schema()}};
        definitions["format:" + f.name] = form_schema(f.summary, properties, {"path"}, f.params);
        any.push_back(reference("format:" + f.name));
    }
    definitions["dataset"] = {{"anyOf", any}};
}

/// A scheme that is no plugin: see docs/baselines.md.
ordered_json program_schema() {
    return {
        {"description", "A program that trains by itself and prints one JSON line per epoch: docs/baselines.md"},
        {"type", "object"},
        {"additionalProperties", false},
        {"required", {"command"}},
        {"properties",
         {{"name", {{"description", "Its name in tables (default: the program's file name)"}, {"type", "string"}}},
          {"command",
           {{"description",
             "The program and its arguments; words that begin with ./ or ../ are paths that start at the "
             "experiment's folder"},
            {"anyOf",
             ordered_json::array({{{"type", "string"}},
                                  {{"type", "array"}, {"minItems", 1}, {"items", {{"type", "string"}}}}})}}}}}};
}

void put_plugins(ordered_json& definitions, PluginKind kind, const PluginSource& plugins,
                 const ordered_json& previous) {
    const std::string word = yaml_word(kind), prefix = word + ":";
    std::map<std::string, ordered_json> all;
    if (previous.contains("definitions")) {
        for (const auto& [key, value] : previous["definitions"].items())
            if (key.starts_with(prefix)) all[key.substr(prefix.size())] = value;
    }
    for (const std::string& name : plugins.names(kind)) {
        const auto facts = plugins.find(kind, name);
        if (facts) all[name] = form_schema(facts->summary, {{"name", {{"const", name}}}}, {"name"}, facts->params);
    }
    ordered_json known = ordered_json::array(), any = ordered_json::array();
    for (const auto& [name, schema] : all) known.push_back(name);
    any.push_back({{"enum", known}});
    for (const auto& [name, schema] : all) {
        definitions[prefix + name] = schema;
        any.push_back(reference(prefix + name));
    }
    const ordered_json other{{"type", "string"}, {"not", {{"enum", known}}}};  // a plugin from outside this build
    any.push_back(other);
    any.push_back({{"type", "object"}, {"required", {"name"}}, {"properties", {{"name", other}}}});
    if (kind == PluginKind::strategy) {
        definitions["program"] = program_schema();
        any.push_back(reference("program"));
    }
    definitions[word] = {{"anyOf", any}};
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
