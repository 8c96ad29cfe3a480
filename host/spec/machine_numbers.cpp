#include "spec/machine_numbers.hpp"

#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace gnnbench {
namespace {

using Kind = YamlNode::Kind;

/// nullptr: none, or not a text.
const YamlNode* source_of(const YamlNode& node) {
    const YamlNode* source = node.is(Kind::map) ? node.find("source") : nullptr;
    return source && source->scalar() && !source->text.empty() ? source : nullptr;
}

}  // namespace

nlohmann::json numbers_at_schema(nlohmann::json at, const char* help) {
    at.update({{"type", "object"}, {"minProperties", 1}});
    return {{"type", "object"},
            {"description", help},
            {"additionalProperties", false},
            {"required", {"at", "source"}},
            {"properties", {{"at", std::move(at)}, {"source", {{"type", "string"}, {"minLength", 1}}}}}};
}

std::optional<int> whole_number(const std::string& text) {
    int value = 0;
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    if (read.ec != std::errc() || read.ptr != end || value < 1) return std::nullopt;
    return value;
}

std::optional<double> MachineNumbers::sourced(const YamlNode& node, const std::string& key) {
    const YamlNode *number = node.is(Kind::map) ? node.find("value") : nullptr, *source = source_of(node);
    double value = 0;
    if (!number || !to_real(*number, value) || !source) {
        findings_.add(
            node.place, key,
            fmt::format("expected {{value: a number, source: where it is from}}; found {}", describe(node)));
        return std::nullopt;
    }
    for (const YamlEntry& e : node.entries)
        if (e.key != "value" && e.key != "source" && e.key != "checked")
            findings_.add(e.place, key + "." + e.key, "is unknown; allowed: value, source, checked");
    machine_.quantities.push_back({key, value, source->text});
    return value;
}

bool MachineNumbers::checked(const YamlNode& node, const std::string& key) {
    const YamlNode* checked = node.find("checked");
    if (!checked) return false;
    if (!checked->is(Kind::boolean))
        findings_.add(checked->place, key + ".checked", "expected true or false; found " + describe(*checked));
    return is_true(*checked);
}

const YamlNode* MachineNumbers::at(const YamlNode& node, const std::string& key, const char* of) {
    const YamlNode* at = node.is(Kind::map) ? node.find("at") : nullptr;
    if (at && at->is(Kind::map) && !at->entries.empty() && source_of(node) && node.entries.size() == 2) return at;
    findings_.add(node.place, key,
                  fmt::format("expected {{at: {{{}: a number, …}}, source: where they are from}}; found {}", of,
                              describe(node)));
    return nullptr;
}

std::optional<double> MachineNumbers::entry(const YamlNode& node, const YamlEntry& e, const std::string& key,
                                            const char* expected) {
    double value = 0;
    if (!to_real(e.value, value) || !(value > 0)) {
        findings_.add(e.place, key, fmt::format("expected {}; found {}: {}", expected, e.key, describe(e.value)));
        return std::nullopt;
    }
    machine_.quantities.push_back({fmt::format("{} at {}", key, e.key), value, source_of(node)->text});
    return value;
}

}  // namespace gnnbench
