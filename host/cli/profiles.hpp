#pragma once
#include <string>

#include <nlohmann/json.hpp>

namespace gnnbench {

/// A profile's file. Short lists on one line: a histogram would have thousands.
std::string profile_lines(const nlohmann::json& profile);

}  // namespace gnnbench
