#pragma once
/// The fields of a journal line. A line may come from a stranger: a number is converted only where it fits.
#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace gnnbench::line_fields {

using nlohmann::json;

/// A number if present; null, NaN written as null, and a missing key all mean "unknown".
std::optional<double> real(const json& j, const char* key);
/// Integers only: floats are not converted.
std::optional<std::int64_t> integer(const json& j);
std::optional<std::int64_t> integer(const json& j, const char* key);
/// Required fields, within their valid range; throw DataError.
std::int64_t whole(const json& j, const char* key, std::int64_t least, std::int64_t most);
std::int64_t count(const json& j, const char* key);
std::uint64_t seed(const json& j, const char* key);
double seconds_of(const json& value, const char* what);

std::string as_text(const json& j);
/// Lists become "a, b"; missing, null and false become "".
std::string text(const json& j, const char* key);
bool flag(const json& j, const char* key);
/// NULL where it is not said.
std::optional<int> flag_if_any(const json& j, const char* key);
/// Entry i of the list under `key`, or null.
json entry(const json& j, const char* key, std::size_t i);
/// The object under `key`; an empty one if there is none.
const json& object(const json& j, const char* key);
/// Length of the list under `key`; 0 if there is none.
std::size_t length(const json& j, const char* key);

}  // namespace gnnbench::line_fields
