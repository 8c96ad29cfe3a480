#pragma once
#include <string>

#include <nlohmann/json.hpp>

namespace gnnbench {

/// What --set is given: "vertices=1000" adds {"vertices": 1000}; what is no number, true or false is text. Throws SpecError
/// where there is no key.
void add_setting(nlohmann::json& mapping, const std::string& setting);

}  // namespace gnnbench
