#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "spec/findings.hpp"

namespace gnnbench {

struct YamlEntry;

/// A YAML document, typed by the YAML 1.2 core schema, with the position of every node. Only
/// yaml.cpp includes the parser.
struct YamlNode {
    enum class Kind { null, boolean, integer, real, text, list, map };
    Kind kind = Kind::null;
    std::string text;  ///< of a scalar, as written
    Place place;
    std::vector<YamlNode> items;     ///< of a list
    std::vector<YamlEntry> entries;  ///< of a map, in the order of the file, keys unique

    bool is(Kind k) const { return kind == k; }
    bool scalar() const { return kind != Kind::list && kind != Kind::map; }
    /// nullptr where a map has no such key.
    const YamlNode* find(std::string_view key) const;
    YamlNode* find(std::string_view key);
    void erase(std::string_view key);
    YamlNode& insert(std::string key, YamlNode value);
};

struct YamlEntry {
    std::string key;
    Place place;
    YamlNode value;
};

/// Describes a node for a message: "the integer 3", "the text 'yes'", "a list", "nothing".
std::string describe(const YamlNode& node);
/// The same without a scalar's text: "a text", "a number". For files that may be another program's.
std::string describe_kind(const YamlNode& node);
/// The value of a boolean, which may be written True or TRUE, too; of others false.
bool is_true(const YamlNode& node);
/// The value of an integer or real scalar.
bool to_integer(const YamlNode& node, std::int64_t& out);
bool to_real(const YamlNode& node, double& out);

/// A word as a scalar without quotes: of "2" an integer.
YamlNode plain_scalar(std::string word);

/// Parses one document, merges (`<<: *base`, or a list of such) included. Syntax errors, duplicate keys and keys that are not words are added to `findings`.
YamlNode parse_yaml(const std::string& text, const std::string& origin, Findings& findings);
/// The same for a value given on the command line: its nodes have no lines.
YamlNode parse_yaml_value(const std::string& text, const std::string& origin, Findings& findings);

}  // namespace gnnbench
