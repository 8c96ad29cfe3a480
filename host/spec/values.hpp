#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/fields.hpp"
#include "spec/findings.hpp"
#include "spec/sources.hpp"
#include "spec/yaml.hpp"

namespace gnnbench {

/// Converts nodes to the values that their fields declare. Errors are added to the findings.
class ValueReader {
public:
    /// Relative paths start at the folder of the file they are written in, those of the command line at the current
    /// one.
    ValueReader(const PluginSource& plugins, const DatasetSource& datasets, Findings& findings)
        : plugins_(plugins), datasets_(datasets), findings_(findings) {}

    /// `key` names it in messages. Empty if the node does not contain such a value.
    std::optional<FieldValue> read(const Field& field, const YamlNode& node, const std::string& key) const;

private:
    std::optional<FieldValue> word(const Field& field, const YamlNode& node, const std::string& key) const;
    std::optional<FieldValue> integer(const Field& field, const YamlNode& node, const std::string& key) const;
    std::optional<FieldValue> real(const Field& field, const YamlNode& node, const std::string& key) const;
    std::optional<FieldValue> texts(const Field& field, const YamlNode& node, const std::string& key) const;
    std::optional<FieldValue> widths(const Field& field, const YamlNode& node, const std::string& key) const;
    /// A number for all layers, or a list of one for each.
    template <class Number>
    std::optional<FieldValue> per_layer(const Field& field, const YamlNode& node, const std::string& key) const;
    std::optional<FieldValue> slowdown(const Field& field, const YamlNode& node, const std::string& key) const;
    std::optional<FieldValue> plugin(PluginKind kind, const YamlNode& node, const std::string& key) const;
    void resolve_machine(PluginChoice& kernel, std::span<const ParamDecl> declared, const YamlNode& node,
                         const std::string& key) const;
    std::optional<FieldValue> program(const YamlNode& map, const std::string& key) const;
    std::optional<FieldValue> dataset(const YamlNode& node, const std::string& key) const;
    // The source of a dataset; null where it cannot be read.
    nlohmann::json stored(const YamlNode& node, const std::string& key) const;
    nlohmann::json imported(const YamlNode& map, const std::string& key) const;
    nlohmann::json generated(const YamlNode& map, const std::string& key) const;
    nlohmann::json of_profile(const YamlNode& map, const std::string& key) const;

    /// Sets declared parameters from a mapping; keys in `taken` are not parameters. `owner` names whose they are.
    Params params(std::span<const ParamDecl> declared, const YamlNode& map, std::span<const std::string> taken,
                  const std::string& owner, const std::string& key) const;
    /// ${VARIABLE} and ${VARIABLE:-otherwise} replaced; made absolute. Empty if a variable is not set.
    std::optional<std::filesystem::path> path(const YamlNode& node, const std::string& key) const;
    /// The same of a file or folder that there is; else reports.
    std::optional<std::filesystem::path> existing(const YamlNode& node, const std::string& key) const;
    std::optional<FieldValue> unexpected(const Field& field, const YamlNode& node, const std::string& key) const;

    const PluginSource& plugins_;
    const DatasetSource& datasets_;
    Findings& findings_;
};

/// The parts of "2,4", "2, 4" or "2 4": a list without its brackets.
std::vector<std::string> separated(std::string_view text);
/// "for several values, write a list: gpus: [2, 4]"; of a section's key, in matrix.
std::string write_a_list(std::string_view key, const std::vector<std::string>& values);

/// "mg-gcn", or "mg-gcn(overlap=false)" with what differs from the defaults.
std::string label_of(std::string_view name, const Params& params, std::span<const ParamDecl> declared);

}  // namespace gnnbench
