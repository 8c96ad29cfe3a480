#include "record/line_fields.hpp"

#include <fmt/format.h>

#include <gnnbench/error.hpp>

namespace gnnbench::line_fields {

std::optional<double> real(const json& j, const char* key) {
    const auto it = j.find(key);
    return it != j.end() && it->is_number() ? std::optional(it->get<double>()) : std::nullopt;
}
std::optional<std::int64_t> integer(const json& j) {
    return j.is_number_integer() ? std::optional(j.get<std::int64_t>()) : std::nullopt;
}
std::optional<std::int64_t> integer(const json& j, const char* key) {
    const auto it = j.find(key);
    return it == j.end() ? std::nullopt : integer(*it);
}
namespace {

[[noreturn]] void refuse(const json& value, const char* what, const std::string& expected) {
    throw DataError(fmt::format("a journal line has {} as '{}'; expected {}.",
                                value.dump(-1, ' ', false, json::error_handler_t::replace).substr(0, 40), what,
                                expected));
}

}  // namespace

std::int64_t whole(const json& j, const char* key, std::int64_t least, std::int64_t most) {
    const json& value = j.at(key);
    const auto number = integer(value);
    const bool wraps = value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX;
    if (!number || wraps || *number < least || *number > most)
        refuse(value, key, fmt::format("a whole number from {} to {}", least, most));
    return *number;
}
std::int64_t count(const json& j, const char* key) { return whole(j, key, 0, INT64_MAX); }
std::uint64_t seed(const json& j, const char* key) {
    const json& value = j.at(key);
    if (!value.is_number_unsigned()) refuse(value, key, "a whole number from 0");
    return value.get<std::uint64_t>();
}
double seconds_of(const json& value, const char* what) {
    if (!value.is_number() || !(value.get<double>() >= 0) || value.get<double>() > 1e12)
        refuse(value, what, "seconds from 0 to 1e12");
    return value.get<double>();
}
std::string as_text(const json& j) {
    if (j.is_null() || (j.is_boolean() && !j.get<bool>())) return "";
    if (j.is_string()) return j.get<std::string>();
    if (j.is_array()) {
        std::string all;
        for (const json& part : j) all += (all.empty() ? "" : ", ") + as_text(part);
        return all;
    }
    return j.dump();
}
std::string text(const json& j, const char* key) {
    const auto it = j.find(key);
    return it == j.end() ? "" : as_text(*it);
}
bool flag(const json& j, const char* key) {
    const auto it = j.find(key);
    return it != j.end() && it->is_boolean() && it->get<bool>();
}
std::optional<int> flag_if_any(const json& j, const char* key) {
    const auto it = j.find(key);
    return it != j.end() && it->is_boolean() ? std::optional<int>(it->get<bool>()) : std::nullopt;
}
json entry(const json& j, const char* key, std::size_t i) {
    const auto it = j.find(key);
    return it != j.end() && it->is_array() && i < it->size() ? (*it)[i] : json();
}
const json& object(const json& j, const char* key) {
    static const json none = json::object();
    const auto it = j.find(key);
    return it != j.end() && it->is_object() ? *it : none;
}
std::size_t length(const json& j, const char* key) {
    const auto it = j.find(key);
    return it != j.end() && it->is_array() ? it->size() : 0;
}

}  // namespace gnnbench::line_fields
