#include "cli/settings.hpp"

#include <gnnbench/error.hpp>

namespace gnnbench {

void add_setting(nlohmann::json& mapping, const std::string& setting) {
    const std::size_t at = setting.find('=');
    if (at == std::string::npos || at == 0) throw SpecError("--set expects key=value; found '" + setting + "'");
    const std::string text = setting.substr(at + 1);
    const nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
    mapping[setting.substr(0, at)] = value.is_number() || value.is_boolean() ? value : nlohmann::json(text);
}

}  // namespace gnnbench
