#pragma once
#include <string>
#include <vector>

#include "spec/fields.hpp"
#include "spec/yaml.hpp"

namespace gnnbench {

/// The keys that may stand at the top of a file, in a section, and in `matrix`: what an error about another key lists.
std::vector<std::string> top_level_keys();
std::vector<std::string> keys_of(const Section& section);
std::vector<std::string> matrix_keys();

/// A node on one line, as YAML flow style.
std::string flow_text(const YamlNode& node);

}  // namespace gnnbench
