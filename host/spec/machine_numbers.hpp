#pragma once
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "spec/machine_fields.hpp"
#include "spec/yaml.hpp"

namespace gnnbench {

/// Reads the numbers of a machine file, each of which names its source, and keeps them for `gnnbench machine show`.
class MachineNumbers {
public:
    MachineNumbers(Findings& findings, simulation::Machine& machine) : findings_(findings), machine_(machine) {}

    /// {value: 80, source: "its data sheet"}. Without a value what is wrong has been said.
    std::optional<double> sourced(const YamlNode& node, const std::string& key);

    /// Whether such a number has `checked: true`, by which a file insists on what is hard to believe.
    bool checked(const YamlNode& node, const std::string& key);

    /// {at: {64: 0.4, 1e6: 97}, source: "measured"}: the entries of `at`, nullptr where something else stands there.
    /// `of`: what they are at, in messages.
    const YamlNode* at(const YamlNode& node, const std::string& key, const char* of);
    /// The value of one of those entries, of the node that at() was asked about.
    std::optional<double> entry(const YamlNode& node, const YamlEntry& e, const std::string& key,
                                const char* expected);

private:
    Findings& findings_;
    simulation::Machine& machine_;
};

/// JSON Schema of {at: …, source: …}; `at`: what its keys and values are.
nlohmann::json numbers_at_schema(nlohmann::json at, const char* help);

/// A whole number above 0, written alone.
std::optional<int> whole_number(const std::string& text);

}  // namespace gnnbench
