#pragma once
#include <string>
#include <vector>

#include "spec/yaml.hpp"

namespace gnnbench {

/// Applies `key.path=value` (the value is YAML) to an experiment. A key that the matrix varies is taken out of the
/// matrix, so that the override holds for every cell; `scheme.overlap=false` reaches into a plugin that was given by
/// name alone. What cannot be applied is added to `findings`.
void apply_overrides(YamlNode& experiment, const std::vector<std::string>& overrides, Findings& findings);

}  // namespace gnnbench
