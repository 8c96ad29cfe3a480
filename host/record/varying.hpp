#pragma once
#include <span>
#include <string>
#include <vector>

#include "record/cell_filter.hpp"

namespace gnnbench {

/// The fields that distinguish cells that share a place in a table.
struct VaryingFields {
    std::vector<std::string> names;  ///< short: "seed"; with its section where two fields share a name
    std::vector<std::vector<std::string>> values;  ///< [cell][name], as text
};
/// `places[i]`: cell i's place. A plugin whose label differs stands for its parameters.
VaryingFields varying_fields(std::span<const std::string> places, std::span<const CellFields> cells);
/// "hidden 64,64, seed 2"; what a cell does not have is left out.
std::string named_values(const std::vector<std::string>& names, const std::vector<std::string>& values);

}  // namespace gnnbench
