#pragma once
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace gnnbench {

/// What tells cells apart that share their place in a table.
struct VaryingFields {
    std::vector<std::string> names;                ///< short: "seed"; with its path where two fields share a name
    std::vector<std::vector<std::string>> values;  ///< [cell][name]
};
/// `places[i]`: where cell i stands; `identities[i]`: its identity. Fields that differ between cells of one place.
VaryingFields varying_fields(std::span<const std::string> places, std::span<const nlohmann::json> identities);

}  // namespace gnnbench
