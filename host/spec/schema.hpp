#pragma once
#include <string>

#include <nlohmann/json.hpp>

#include "spec/sources.hpp"

namespace gnnbench {

/// The JSON Schema (draft-07) of an experiment file, from the declarations of fields, plugins, generators and
/// formats. A plugin of `previous`, an earlier schema, that is not among `plugins` keeps its entry: not every
/// machine can build every plugin. `previous` may be null.
nlohmann::ordered_json experiment_schema(const PluginSource& plugins, const DatasetSource& datasets,
                                         const nlohmann::ordered_json& previous);

/// docs/spec-reference.md: the same for people. Plugins, generators and formats are taken from the schema.
std::string reference_page(const nlohmann::ordered_json& schema);

}  // namespace gnnbench
