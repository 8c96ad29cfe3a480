#pragma once
#include <map>
#include <string>
#include <vector>

#include "spec/outline.hpp"

namespace gnnbench {

/// The keys of a file that are set, by their paths.
struct SetKeys {
    std::map<std::string, Place> claimed;  ///< well, and where
    std::vector<std::string> seen;         ///< well or badly
};

/// Defaults of fields that are not set, or not by every value of their axis; `place`: of the file.
void fill_in_defaults(Outline& outline, const SetKeys& set, const Place& place, const ValueReader& reader,
                      Findings& findings);

}  // namespace gnnbench
