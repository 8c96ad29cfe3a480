#include "worker/program_line.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>
#include <gnnbench/trace.hpp>

#include "core/json_nesting.hpp"

namespace gnnbench {

using nlohmann::json;

namespace {

/// As a message shows what it does not understand.
std::string shown(const std::string& text) { return text.size() <= 120 ? text : text.substr(0, 120) + "…"; }

void allow_keys(const json& line, std::initializer_list<const char*> allowed) {
    for (const auto& [key, value] : line.items())
        if (std::find(allowed.begin(), allowed.end(), key) == allowed.end())
            throw DataError(fmt::format("found the key '{}' in {}; allowed beside '{}' are: {}", key,
                                        shown(line.dump()), *allowed.begin(),
                                        fmt::join(allowed.begin() + 1, allowed.end(), ", ")));
}

[[noreturn]] void refuse(const char* key, const char* expected, const json& found) {
    throw DataError(fmt::format("expected {} as '{}'; found {}", expected, key, shown(found.dump())));
}

const json& required(const json& line, const char* key) {
    const auto found = line.find(key);
    if (found == line.end()) throw DataError(fmt::format("'{}' is missing in {}", key, shown(line.dump())));
    return *found;
}

std::int64_t count(const char* key, const json& value) {
    if (!value.is_number_integer() || value < 0) refuse(key, "an integer from 0", value);
    return value.get<std::int64_t>();
}

double seconds(const char* key, const json& value) {
    if (!value.is_number() || value < 0 || value > 1e12) refuse(key, "seconds from 0 to 1e12", value);
    return value.get<double>();
}

std::string text(const char* key, const json& value) {
    if (!value.is_string()) refuse(key, "text", value);
    return value.get<std::string>();
}

ProgramEpoch epoch_from(const json& line) {
    allow_keys(line, {"epoch", "loss", "wall_s", "phases", "peak_memory_bytes"});
    ProgramEpoch e{.epoch = count("epoch", line.at("epoch")), .phases = json::object(), .peak_memory_bytes = {}};
    const json& loss = required(line, "loss");
    if (!loss.is_number() && !loss.is_null()) refuse("loss", "a number, or null where it is not finite", loss);
    e.loss = loss.is_null() ? std::numeric_limits<double>::quiet_NaN() : loss.get<double>();
    e.wall_s = seconds("wall_s", required(line, "wall_s"));
    if (const auto memory = line.find("peak_memory_bytes"); memory != line.end())
        e.peak_memory_bytes = count("peak_memory_bytes", *memory);
    const auto phases = line.find("phases");
    if (phases == line.end()) return e;
    if (!phases->is_object()) refuse("phases", "phases with their seconds", *phases);
    for (const auto& [name, value] : phases->items()) {
        if (std::find(phase_names.begin(), phase_names.end(), name) == phase_names.end())
            throw DataError(
                fmt::format("there is no phase '{}'; phases are: {}", name, fmt::join(phase_names, ", ")));
        seconds(name.c_str(), value);
    }
    e.phases = *phases;
    return e;
}

ProgramVersions versions_from(const json& line) {
    allow_keys(line, {"versions", "device"});
    const json& versions = line.at("versions");
    if (!versions.is_object()) refuse("versions", "packages with their versions", versions);
    ProgramVersions v;
    for (const auto& [package, version] : versions.items())
        v.versions += (v.versions.empty() ? "" : ", ") + package + " " + text(package.c_str(), version);
    if (const auto device = line.find("device"); device != line.end()) v.device = text("device", *device);
    return v;
}

}  // namespace

ProgramLine read_program_line(std::string_view given) {
    if (nested_deeper(given)) throw DataError(fmt::format("found a line nested deeper than {}", deepest_json));
    const json line = json::parse(given, nullptr, false);
    if (!line.is_object())
        throw DataError(fmt::format("expected one JSON object a line; found '{}'", shown(std::string(given))));
    if (line.contains("epoch")) return epoch_from(line);
    if (line.contains("versions")) return versions_from(line);
    for (const TrialStatus status : {TrialStatus::skipped, TrialStatus::oom, TrialStatus::failed}) {
        const std::string name = to_text(status);
        const auto reason = line.find(name);
        if (reason == line.end()) continue;
        allow_keys(line, {name.c_str()});
        if (text(name.c_str(), *reason).empty()) refuse(name.c_str(), "a reason", *reason);
        return ProgramRefusal{status, *reason};
    }
    throw DataError(fmt::format("expected a line with 'epoch', 'versions', 'skipped', 'oom' or 'failed'; found {}",
                                shown(line.dump())));
}

}  // namespace gnnbench
