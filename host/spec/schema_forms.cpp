// What may be chosen by name in an experiment, with its parameters: datasets and plugins.
#include "spec/schema_forms.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "spec/cell.hpp"

namespace gnnbench {

using nlohmann::ordered_json;

ordered_json schema_number(double v) {
    return v == std::floor(v) && std::abs(v) < 1e18 ? ordered_json(static_cast<std::int64_t>(v)) : ordered_json(v);
}

void put_range(ordered_json& j, const Range& r) {
    if (std::isfinite(r.minimum)) j[r.open_minimum ? "exclusiveMinimum" : "minimum"] = schema_number(r.minimum);
    if (std::isfinite(r.maximum)) j[r.open_maximum ? "exclusiveMaximum" : "maximum"] = schema_number(r.maximum);
}

ordered_json reference(const std::string& name) { return {{"$ref", "#/definitions/" + name}}; }
ordered_json any_of(std::initializer_list<ordered_json> all) { return {{"anyOf", ordered_json(all)}}; }

namespace {

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
            break;
        }
        case ParamType::text:
        case ParamType::path:
        case ParamType::program:
            j["type"] = "string";
            j["default"] = text;
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

/// A scheme that is no plugin: see docs/baselines.md.
ordered_json program_schema() {
    return {
        {"description", "A program that trains by itself and prints one JSON line per epoch: docs/baselines.md"},
        {"type", "object"},
        {"additionalProperties", false},
        {"required", {"command"}},
        {"properties",
         {{"name", {{"description", "Its name in tables (default: the program's file name)"}, {"type", "string"}}},
          {"approximation",
           {{"description",
             "What it does not train exactly, such as batches in place of the graph; its losses are then not "
             "compared with the reference's"},
            {"type", "string"},
            {"minLength", 1}}},
          {"command",
           {{"description",
             "The program and its arguments; words that begin with ./ or ../ are paths that start at the "
             "experiment's folder"},
            {"anyOf",
             ordered_json::array({{{"type", "string"}},
                                  {{"type", "array"}, {"minItems", 1}, {"items", {{"type", "string"}}}}})}}}}}};
}

/// Several seeds are several samples.
void allow_list(ordered_json& seed) {
    const ordered_json one{{"type", seed["type"]}, {"minimum", seed["minimum"]}, {"maximum", seed["maximum"]}};
    seed["type"] = {one["type"], "array"};
    seed["minItems"] = 1;
    seed["items"] = one;
}

}  // namespace

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
        ordered_json& form = definitions["generate:" + g.name];
        form = form_schema(g.summary, properties, {"generate"}, g.params);
        if (ordered_json& all = form["properties"]; all.contains("seed")) allow_list(all["seed"]);
        any.push_back(reference("generate:" + g.name));
    }
    const DatasetForm expected = datasets.expectation();
    definitions["expect"] =
        form_schema(expected.summary,
                    {{"expect",
                      {{"description",
                        "A dataset's profile; `gnnbench dataset profiles` lists those that come with the program"},
                       {"type", "string"}}},
                     {"name", name_schema()}},
                    {"expect"}, expected.params);
    any.push_back(reference("expect"));
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

}  // namespace gnnbench
