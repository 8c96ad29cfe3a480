#include "spec/values.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <span>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gnnbench {

using Kind = YamlNode::Kind;
using Read = std::optional<FieldValue>;

Read ValueReader::read(const Field& field, const YamlNode& node, const std::string& key) const {
    switch (field.type) {
        case FieldType::boolean:
            if (node.is(Kind::boolean)) return Read(is_true(node));
            return unexpected(field, node, key);
        case FieldType::integer:
            return integer(field, node, key);
        case FieldType::real:
            return real(field, node, key);
        case FieldType::text:
            if (node.scalar() && !node.is(Kind::null)) return Read(node.text);
            return unexpected(field, node, key);
        case FieldType::texts:
            return texts(field, node, key);
        case FieldType::folder: {
            if (!node.is(Kind::text)) return unexpected(field, node, key);
            if (node.text.empty()) return Read(std::string());
            const auto folder = path(node, key);
            if (!folder) return {};
            std::error_code ignored;
            if (std::filesystem::is_directory(*folder, ignored)) return Read(folder->string());
            findings_.add(node.place, key,
                          fmt::format("expected a folder; there is none at {}", folder->string()));
            return {};
        }
        case FieldType::word:
            return word(field, node, key);
        case FieldType::widths:
            return widths(field, node, key);
        case FieldType::count_per_layer:
            return per_layer<std::int64_t>(field, node, key);
        case FieldType::per_layer:
            return per_layer<double>(field, node, key);
        case FieldType::slowdown:
            return slowdown(field, node, key);
        case FieldType::dataset:
            return dataset(node, key);
        case FieldType::strategy:
            return plugin(PluginKind::strategy, node, key);
        case FieldType::partitioner:
            return plugin(PluginKind::partitioner, node, key);
        case FieldType::kernel:
            return plugin(PluginKind::kernel, node, key);
    }
    return {};
}

std::vector<std::string> separated(std::string_view text) {
    std::vector<std::string> parts;
    bool open = false;
    for (const char c : text) {
        if (c == ',' || c == ' ') {
            open = false;
            continue;
        }
        if (!open) parts.emplace_back();
        parts.back() += c;
        open = true;
    }
    return parts;
}

std::string write_a_list(std::string_view key, const std::vector<std::string>& values) {
    const bool of_a_section = key.find('.') != std::string_view::npos;
    return fmt::format("for several values, write a list{}: {}: [{}]", of_a_section ? " in matrix" : "", key,
                       fmt::join(values, ", "));
}

namespace {

bool is_value_of(const Field& field, const std::string& word) {
    const YamlNode node = plain_scalar(word);
    double number = 0;
    std::int64_t whole = 0;
    switch (field.type) {
        case FieldType::integer:
        case FieldType::widths:
            return to_integer(node, whole) && field.range.contains(static_cast<double>(whole));
        case FieldType::real:
            return to_real(node, number) && field.range.contains(number);
        case FieldType::word:
            return std::ranges::find(field.words, word) != field.words.end();
        default:
            return false;
    }
}

/// The hint for "2,4", where a list of these would do; empty where it would not.
std::string list_hint(const Field& field, const YamlNode& node) {
    if (!node.is(Kind::text) || (!field.varies && field.type != FieldType::widths)) return {};
    const std::vector<std::string> parts = separated(node.text);
    if (parts.size() < 2 ||
        !std::ranges::all_of(parts, [&](const std::string& part) { return is_value_of(field, part); }))
        return {};
    if (field.type == FieldType::widths) return fmt::format("; write [{}]", fmt::join(parts, ", "));
    return "; " + write_a_list(field.path, parts);
}

}  // namespace

Read ValueReader::unexpected(const Field& field, const YamlNode& node, const std::string& key) const {
    std::string hint = list_hint(field, node);
    double value = 0;
    if (field.type == FieldType::integer && node.is(Kind::real) && to_real(node, value) &&
        value == std::floor(value) && std::abs(value) < 1e15)
        hint = fmt::format("; write {:.0f}", value);
    if (field.type == FieldType::widths && node.is(Kind::integer)) hint = fmt::format("; write [{}]", node.text);
    if (field.type == FieldType::texts && node.scalar()) hint = fmt::format("; write [{}]", node.text);
    if (node.is(Kind::list) && field.varies && field.type != FieldType::widths)
        hint = fmt::format("; to try several values, list them in matrix under '{}'", field.path);
    findings_.add(node.place, key,
                  fmt::format("expected {}; found {}{}", expectation(field), describe(node), hint));
    return {};
}

Read ValueReader::word(const Field& field, const YamlNode& node, const std::string& key) const {
    if (!node.scalar() || node.is(Kind::null)) return unexpected(field, node, key);
    const std::string& text = node.text;
    const std::vector<std::string> allowed(field.words.begin(), field.words.end());
    for (const std::string& candidate : allowed)
        if (text == candidate) return Read(text);
    if (const std::string hint = list_hint(field, node); !hint.empty()) return unexpected(field, node, key);
    findings_.add(node.place, key, fmt::format("found {}; {}", describe(node), allowed_words(text, allowed)));
    return {};
}

Read ValueReader::integer(const Field& field, const YamlNode& node, const std::string& key) const {
    std::int64_t value = 0;
    if (!to_integer(node, value) || !field.range.contains(static_cast<double>(value)))
        return unexpected(field, node, key);
    return Read(value);
}

Read ValueReader::real(const Field& field, const YamlNode& node, const std::string& key) const {
    double value = 0;
    if (!to_real(node, value) || !field.range.contains(value)) return unexpected(field, node, key);
    return Read(value);
}

Read ValueReader::widths(const Field& field, const YamlNode& node, const std::string& key) const {
    if (!node.is(Kind::list)) return unexpected(field, node, key);
    std::vector<std::int64_t> all;
    for (const YamlNode& item : node.items) {
        std::int64_t width = 0;
        if (!to_integer(item, width) || !field.range.contains(static_cast<double>(width))) {
            findings_.add(item.place, key,
                          fmt::format("expected {}; found {} in it", expectation(field), describe(item)));
            return {};
        }
        all.push_back(width);
    }
    return Read(std::move(all));
}

Read ValueReader::texts(const Field& field, const YamlNode& node, const std::string& key) const {
    if (!node.is(Kind::list)) return unexpected(field, node, key);
    std::vector<std::string> all;
    for (const YamlNode& item : node.items) {
        if (!item.scalar() || item.is(Kind::null)) {
            findings_.add(item.place, key,
                          fmt::format("expected {}; found {} in it", expectation(field), describe(item)));
            return {};
        }
        all.push_back(item.text);
    }
    return Read(std::move(all));
}

template <class Number>
Read ValueReader::per_layer(const Field& field, const YamlNode& node, const std::string& key) const {
    const auto read = [](const YamlNode& item, Number& value) {
        if constexpr (std::is_integral_v<Number>)
            return to_integer(item, value);
        else
            return to_real(item, value);
    };
    const auto items = node.is(Kind::list) ? std::span(node.items) : std::span(&node, 1);
    if (items.empty()) {
        findings_.add(node.place, key, fmt::format("expected {}; found an empty list", expectation(field)));
        return {};
    }
    std::vector<Number> all;
    for (const YamlNode& item : items) {
        Number value = 0;
        if (!read(item, value) || !field.range.contains(static_cast<double>(value)))
            return unexpected(field, item, key);
        all.push_back(value);
    }
    return Read(std::move(all));
}

namespace {

/// −1 for a key that is no rank of any cell; "03" is none, since "3" would be the same.
int rank_of(const std::string& key) {
    constexpr int most = 65536;  // gpus
    int rank = -1;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), rank);
    const bool whole = error == std::errc() && end == key.data() + key.size() && std::to_string(rank) == key;
    return whole && rank >= 0 && rank < most ? rank : -1;
}

}  // namespace

Read ValueReader::slowdown(const Field& field, const YamlNode& node, const std::string& key) const {
    if (!node.is(Kind::map)) return unexpected(field, node, key);
    Slowdown result;
    bool sound = true;
    const auto refuse = [&](const Place& place, const YamlEntry& e, const std::string& expected,
                            const std::string& found) {
        findings_.add(place, key + "." + e.key, fmt::format("expected {}; found {}", expected, found));
        sound = false;
    };
    for (const YamlEntry& e : node.entries) {
        if (e.key == "lasts") {
            if (!to_real(e.value, result.lasts_s) || !Range{1e-6, 1e6}.contains(result.lasts_s))
                refuse(e.value.place, e, "seconds between 0.000001 and 1000000", describe(e.value));
            continue;
        }
        double* const drawn = e.key == "jitter" ? &result.jitter : e.key == "spread" ? &result.spread : nullptr;
        const int rank = rank_of(e.key);
        const Range range = drawn ? Range{0, 1} : Range{1, 1e6};
        double value = 0;
        if (!drawn && rank < 0)
            refuse(e.place, e, "a rank from 0 to 65535, jitter, spread or lasts, as key",
                   fmt::format("'{}'", e.key));
        else if (!to_real(e.value, value) || !range.contains(value))
            refuse(e.value.place, e, drawn ? "a number between 0 and 1" : "a factor between 1 and 1000000",
                   describe(e.value));
        else if (drawn)
            *drawn = value;
        else if (value > 1)  // 1 is what a rank has that is not named
            result.factor[rank] = value;
    }
    if (const YamlNode* lasts = node.find("lasts"); lasts && sound && result.jitter == 0 && result.spread == 0) {
        findings_.add(lasts->place, key + ".lasts", "is of what is drawn: give a jitter or a spread above 0, too");
        sound = false;
    }
    return sound ? Read(std::move(result)) : std::nullopt;
}

std::optional<std::filesystem::path> ValueReader::path(const YamlNode& node, const std::string& key) const {
    std::string text = node.text;
    for (std::size_t start; (start = text.find("${")) != std::string::npos;) {
        const std::size_t end = text.find('}', start);
        if (end == std::string::npos) {
            findings_.add(node.place, key, fmt::format("expected '}}' after '${{' in '{}'", node.text));
            return {};
        }
        const std::string inside = text.substr(start + 2, end - start - 2);
        const std::size_t otherwise = inside.find(":-");
        const std::string name = inside.substr(0, otherwise);
        const char* set = std::getenv(name.c_str());
        if ((!set || !*set) && otherwise == std::string::npos) {
            findings_.add(node.place, key,
                          fmt::format("the environment variable {0} of '{1}' is not set; set it, or "
                                      "give the path with --set {2}=…",
                                      name, node.text, key));
            return {};
        }
        text.replace(start, end - start + 1, set && *set ? std::string(set) : inside.substr(otherwise + 2));
    }
    const std::filesystem::path base = node.place.line > 0
                                           ? std::filesystem::absolute(node.place.origin).parent_path()
                                           : std::filesystem::current_path();
    return std::filesystem::absolute(base / text).lexically_normal();
}

}  // namespace gnnbench
