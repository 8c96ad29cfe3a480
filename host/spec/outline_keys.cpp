#include "spec/outline_keys.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <gnnbench/spelling.hpp>

namespace gnnbench {

std::vector<std::string> top_level_keys() {
    std::vector<std::string> keys;
    for (const Field& f : fields())
        if (last_word(f.path) == f.path) keys.emplace_back(f.path);
    for (const Section& s : sections()) keys.emplace_back(s.name);
    keys.emplace_back("matrix");
    for (const char* key : file_keys()) keys.emplace_back(key);
    return keys;
}

std::vector<std::string> keys_of(const Section& section) {
    std::vector<std::string> keys;
    for (const Field& f : fields())
        if (f.path != last_word(f.path) && section_of(f.path) == section.name)
            keys.emplace_back(last_word(f.path));
    return keys;
}

std::vector<std::string> matrix_keys() {
    std::vector<std::string> keys;
    for (const Section& s : sections())
        if (s.varies) keys.emplace_back(s.name);
    for (const Field& f : fields())
        if (f.varies) keys.emplace_back(f.path);
    for (const char* key : matrix_rules()) keys.emplace_back(key);
    return keys;
}

bool is_of_an_experiment(const YamlNode& root) {
    if (!root.is(YamlNode::Kind::map)) return false;
    if (root.entries.empty()) return true;
    const std::vector<std::string> known = top_level_keys();
    return std::ranges::any_of(root.entries, [&](const YamlEntry& e) {
        return find_field(e.key) || std::ranges::find(known, e.key) != known.end() ||
               !did_you_mean(e.key, known).empty();
    });
}

std::string flow_text(const YamlNode& node) {
    if (node.scalar()) return node.is(YamlNode::Kind::null) ? "null" : node.text;
    std::string text;
    for (const YamlNode& item : node.items) text += (text.empty() ? "" : ", ") + flow_text(item);
    for (const YamlEntry& e : node.entries)
        text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", e.key, flow_text(e.value));
    return node.is(YamlNode::Kind::list) ? "[" + text + "]" : "{" + text + "}";
}

}  // namespace gnnbench
