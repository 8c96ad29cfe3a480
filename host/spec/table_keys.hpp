#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "spec/findings.hpp"
#include "spec/yaml.hpp"

namespace gnnbench {

/// The type of a key in a table's definition or a file of claims. `values` is a mapping of fields to values, `conditions`
/// that or an SQL expression or a list of both; the last five are lists or mappings with keys of their own.
enum class TableKeyType {
    text,
    texts,
    whole,
    real,
    share,
    boolean,
    word,
    words,
    values,
    conditions,
    measure,
    plot,
    lines,
    claims,  ///< a list of claims
    places   ///< a mapping of names to places of a table
};

/// One key. Reading, the JSON Schema and the reference page come from this.
struct TableKey {
    std::string_view owner;  ///< "table", "line", "measure", "plot"; "claims", "claim", "places"
    std::string_view name;
    TableKeyType type;
    std::span<const char* const> words;  ///< of TableKeyType::word and words
    bool required;
    std::string_view help;
};
std::span<const TableKey> table_keys();
std::span<const TableKey> claim_keys();
/// The keys of one owner, in their order.
std::vector<const TableKey*> keys_of(std::string_view owner);

/// An object of JSON Schema, and the rows of a Markdown table, of an owner's keys.
nlohmann::ordered_json schema_of(std::string_view owner);
std::string key_rows(std::string_view owner);

/// Checks that every key of `node` is one of the owner's with a valid value; else adds to `findings`.
void check_table_node(const YamlNode& node, std::string_view owner, Findings& findings);

/// schemas/table.schema.json and docs/table-reference.md, from the declarations.
nlohmann::ordered_json table_schema();
std::string table_reference_page();

}  // namespace gnnbench
