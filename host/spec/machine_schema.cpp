#include "spec/machine_fields.hpp"
#include "spec/machine_file.hpp"
#include "spec/machine_links.hpp"

namespace gnnbench {

nlohmann::json machine_schema() {
    const auto sourced = [](const MachineField& f) -> nlohmann::json {
        nlohmann::json value{{"type", f.whole ? "integer" : "number"}};
        if (f.minimum > -unlimited) value["minimum"] = f.minimum;
        if (f.maximum < unlimited) value["maximum"] = f.maximum;
        return {{"type", "object"},
                {"description", f.help},
                {"additionalProperties", false},
                {"required", {"value", "source"}},
                {"properties",
                 {{"value", value},
                  {"source", {{"type", "string"}, {"minLength", 1}}},
                  {"checked", {{"type", "boolean"}}}}}};
    };
    const nlohmann::json text{{"type", "string"}, {"minLength", 1}};
    nlohmann::json root{{"$schema", "http://json-schema.org/draft-07/schema#"},
                        {"title", "A machine that gnnbench simulates"},
                        {"type", "object"},
                        {"additionalProperties", false},
                        {"properties", {{"name", text}, {"about", text}}},
                        {"required", {"name", "about", "device", "links"}}};
    for (const char* section : machine_sections)
        root["properties"][section] = {
            {"type", "object"}, {"additionalProperties", false}, {"required", nlohmann::json::array()}};
    root["properties"]["device"]["properties"]["name"] = text;
    root["properties"]["device"]["required"].push_back("name");
    for (const MachineField& f : machine_fields()) {
        nlohmann::json& at = *f.section ? root["properties"][f.section] : root;
        at["properties"][f.key] = sourced(f);
        if (f.required) at["required"].push_back(f.key);
    }
    for (const MachineCurve& c : machine_curves())
        root["properties"][c.section]["properties"][c.key] =
            numbers_at_schema({{"additionalProperties", {{"type", "number"}, {"exclusiveMinimum", 0}}}}, c.help);
    MachineField links = machine_fields()[0];
    links.help = "links that a device uses in a group of so many devices of its node";
    nlohmann::json& among = root["properties"]["links"]["properties"]["among"];
    among = {{"type", "object"},
             {"minProperties", 1},
             {"additionalProperties", false},
             {"patternProperties", {{"^[1-9][0-9]*$", sourced(links)}}}};
    root["properties"]["links"]["properties"].update(link_tables_schema());
    root["properties"]["links"]["required"].push_back("among");
    return root;
}

}  // namespace gnnbench
