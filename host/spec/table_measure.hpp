#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/table_definition.hpp"
#include "spec/yaml.hpp"

namespace gnnbench {

/// The scalar under a key; empty if there is none.
std::string text_at(const YamlNode& map, std::string_view key);
/// A text or a list of texts; none where `n` is null.
std::vector<std::string> texts(const YamlNode* n);
/// A value as cells' fields show it: "1.0" is "1", "True" is "true".
std::string value_text(const YamlNode& n);
Conditions conditions(const YamlNode* n);

template <class E>
E word_at(const YamlNode& map, std::string_view key, std::initializer_list<std::pair<const char*, E>> words,
          E otherwise) {
    const std::string text = text_at(map, key);
    for (const auto& [word, value] : words)
        if (text == word) return value;
    return otherwise;
}

/// `fallback`: what the table says, of which a line's measure may leave out all but what it changes.
Measure read_measure(const YamlNode& n, const Measure& fallback, Findings& findings);

}  // namespace gnnbench
