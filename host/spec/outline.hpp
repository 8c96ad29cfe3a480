#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "spec/experiment.hpp"
#include "spec/fields.hpp"
#include "spec/values.hpp"
#include "spec/yaml.hpp"

namespace gnnbench {

/// A field's value and where it was written.
struct Assignment {
    const Field* field;
    FieldValue value;
    Place place;
};
/// What is set together: one value of an axis.
using Assignments = std::vector<Assignment>;

/// An experiment file, read and typed, not yet multiplied.
struct Outline {
    struct VariedKey {
        Axis axis;
        std::vector<Assignments> options;
    };
    Assignments fixed;                ///< of the file, then the defaults of what the file does not set
    std::vector<VariedKey> varied;
    std::map<std::string, std::string> origins;
};

/// Reads every key; what is wrong goes to `findings`, and is left out of the outline.
Outline read_outline(const YamlNode& root, const ValueReader& reader, Findings& findings);

/// A node on one line, as YAML flow style.
std::string flow_text(const YamlNode& node);

}  // namespace gnnbench
