#pragma once
#include "spec/yaml.hpp"

namespace gnnbench {

/// A key `dataset`, where generated datasets with a list of seeds, samples of one graph, have become a list of datasets with
/// one seed each. Any other key stays as it is.
YamlEntry with_samples(const YamlEntry& key);

}  // namespace gnnbench
