#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spec/fields.hpp"
#include "spec/yaml.hpp"

namespace gnnbench {

/// The keys that may stand at the top of a file, in a section, and in `matrix`: what an error about another key lists.
std::vector<std::string> top_level_keys();
std::vector<std::string> keys_of(const Section& section);
std::vector<std::string> matrix_keys();

/// What other programs call a key, and its path here; in lower case, without '_' and '-'.
struct KeyElsewhere {
    std::string_view elsewhere, path;
};
std::span<const KeyElsewhere> keys_elsewhere();
/// The field that is meant by another program's word for it ("learning_rate", "numGPUs"); nullptr if none is.
const Field* meant_by(std::string_view word);

/// Whether a document is written for gnnbench: it has at least one key of an experiment, or one that is spelled nearly so.
/// Another program's file may hold what is not to appear in messages.
bool is_of_an_experiment(const YamlNode& root);

/// A node on one line, as YAML flow style.
std::string flow_text(const YamlNode& node);

}  // namespace gnnbench
