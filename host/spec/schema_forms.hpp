#pragma once
#include <initializer_list>
#include <string>

#include <nlohmann/json.hpp>

#include "spec/fields.hpp"
#include "spec/sources.hpp"

namespace gnnbench {

/// A number as JSON Schema's texts have it: 1, not 1.0.
nlohmann::ordered_json schema_number(double v);
void put_range(nlohmann::ordered_json& j, const Range& r);
nlohmann::ordered_json reference(const std::string& definition);
nlohmann::ordered_json any_of(std::initializer_list<nlohmann::ordered_json> all);

/// The definition `dataset`, and one for each generator and format.
void put_datasets(nlohmann::ordered_json& definitions, const DatasetSource& datasets);

/// The definition of a kind of plugin, and one for each plugin; `previous`: see experiment_schema.
void put_plugins(nlohmann::ordered_json& definitions, PluginKind kind, const PluginSource& plugins,
                 const nlohmann::ordered_json& previous);

}  // namespace gnnbench
