#include <data/options.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <gnnbench/error.hpp>
#include <gnnbench/spelling.hpp>

namespace gnnbench {

using nlohmann::json;

namespace {

std::string as_text(const json& value, ParamType type) {
    if (value.is_string()) return value.get<std::string>();
    // YAML may have read 1e6 as a real number.
    if (value.is_number_float() && type == ParamType::integer) {
        double number = value.get<double>();
        if (number == std::floor(number) && std::abs(number) < 0x1p53) return fmt::format("{:.0f}", number);
    }
    return value.dump();
}

}  // namespace

std::string short_digest(const json& j, std::size_t digits) {
    auto text = j.dump();
    auto digest = XXH3_128bits(text.data(), text.size());
    return fmt::format("{:016x}{:016x}", digest.high64, digest.low64).substr(0, digits);
}

Params resolve_params(std::span<const ParamDecl> declared, const json& given, const std::string& what) {
    Params params(declared);
    for (const auto& [key, value] : given.items()) {
        auto found = std::ranges::find_if(declared, [&](const ParamDecl& d) { return key == d.name; });
        if (found == declared.end()) {
            std::vector<std::string> names;
            for (const auto& d : declared) names.emplace_back(d.name);
            throw SpecError(fmt::format("{}: unknown key '{}'; known are {}{}", what, key, fmt::join(names, ", "),
                                        did_you_mean(key, names)));
        }
        try {
            std::string text = as_text(value, found->type);
            if (is_path(found->type) && !text.empty())
                text = std::filesystem::absolute(text).lexically_normal().string();
            params.set(*found, text);
        } catch (const SpecError& e) {
            throw SpecError(fmt::format("{}: {}", what, e.what()));
        }
    }
    return params;
}

json to_json(const Params& params) {
    json j = json::object();
    for (const auto& [name, value] : params.values()) std::visit([&](const auto& v) { j[name] = v; }, value);
    return j;
}

json identity_json(std::span<const ParamDecl> declared, const Params& params) {
    json j = to_json(params);
    if (j.contains("labels") && !beyond_defaults(declared, params).contains("labels")) j.erase("labels");
    return j;
}

json beyond_defaults(std::span<const ParamDecl> declared, const Params& params) {
    Params defaults(declared);
    json j = json::object();
    for (const auto& [name, value] : params.values())
        if (defaults.values().at(name) != value) std::visit([&](const auto& v) { j[name] = v; }, value);
    return j;
}

}  // namespace gnnbench
