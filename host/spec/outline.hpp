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
        MatrixAxis axis;
        std::vector<Assignments> options;
    };
    /// What `exclude` leaves out: combinations with all these values, and of them the cells for which the expression
    /// holds. One of both is there.
    struct Exclusion {
        Place place;
        Assignments values;
        std::string where, reason;
        Place where_place;
    };
    /// What `include` adds: to every combination whose varied values agree, else as a cell of its own.
    struct Inclusion {
        Place place;
        Assignments values;
    };
    Assignments fixed;  ///< of the file, then the defaults of what the file does not set
    std::vector<VariedKey> varied;
    std::vector<Exclusion> excluded;
    std::vector<Inclusion> included;
    std::map<std::string, std::string> origins;
};

/// Reads every key; what is wrong goes to `findings`, and is left out of the outline.
Outline read_outline(const YamlNode& root, const ValueReader& reader, Findings& findings);

/// A node on one line, as YAML flow style.
std::string flow_text(const YamlNode& node);

}  // namespace gnnbench
