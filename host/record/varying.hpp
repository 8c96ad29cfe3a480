#pragma once
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace gnnbench {

/// The fields that distinguish cells that share a place in a table.
struct VaryingFields {
    std::vector<std::string> names;                ///< short: "seed"; with its path where two fields share a name
    std::vector<std::vector<std::string>> values;  ///< [cell][name]
};
/// `places[i]`: cell i's place; `identities[i]`: its identity. Returns the fields that differ within a place.
VaryingFields varying_fields(std::span<const std::string> places, std::span<const nlohmann::json> identities);

}  // namespace gnnbench
