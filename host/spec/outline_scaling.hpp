#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "record/scaling_axis.hpp"
#include "spec/yaml.hpp"

namespace gnnbench {

/// The key `scaling`: {strong: [1, 2, 4]}, or {weak: [1, 2, 4], per: vertices}.
struct ScalingKey {
    ScalingAxis axis;
    YamlNode gpus;  ///< a list
};
/// Empty, with findings, if it is neither.
std::optional<ScalingKey> read_scaling(const YamlNode& node, Findings& findings);

/// The dataset with `times` as much of the parameter `per`, and with its size in its name if it has one: the parts of a series
/// are told apart. Empty, with a finding, where it does not give that parameter as a number.
std::optional<YamlNode> grown(const YamlNode& dataset, const std::string& per, std::int64_t times,
                              Findings& findings);

}  // namespace gnnbench
