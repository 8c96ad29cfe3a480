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
/// Fields that are set together: one value of an axis.
using Assignments = std::vector<Assignment>;

/// An experiment file, read and typed, not yet multiplied.
struct Outline {
    struct VariedKey {
        MatrixAxis axis;
        std::vector<Assignments> options;
    };
    /// A rule of `exclude`: drops combinations with all these values, or of these the cells for which the expression
    /// holds. At least one of the two is given.
    struct Exclusion {
        Place place;
        Assignments values;
        std::string where, reason;
        Place where_place;
    };
    /// A rule of `include`: extends every combination whose varied values agree, else adds a new cell.
    struct Inclusion {
        Place place;
        Assignments values;
    };
    Assignments fixed;                     ///< of the file, then the defaults of what the file does not set
    std::vector<const Field*> by_default;  ///< of these, those that the file does not set
    std::vector<VariedKey> varied;
    std::vector<Exclusion> excluded;
    std::vector<Inclusion> included;
    std::map<std::string, std::string> origins;
    ScalingAxis scaling;
};

/// Reads every key; errors are added to `findings`, and their keys left out of the outline.
Outline read_outline(const YamlNode& root, const ValueReader& reader, Findings& findings);

}  // namespace gnnbench
