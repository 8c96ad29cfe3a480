#pragma once
#include <string>

#include <nlohmann/json.hpp>

namespace gnnbench {

/// Parses --set: "vertices=1000" adds {"vertices": 1000}; all but numbers, true and false is text. Throws SpecError
/// if the key is missing.
void add_setting(nlohmann::json& mapping, const std::string& setting);

}  // namespace gnnbench
