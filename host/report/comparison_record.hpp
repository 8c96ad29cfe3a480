#pragma once
#include <string>

#include <nlohmann/json.hpp>

#include "report/layout.hpp"

namespace gnnbench {

/// One cell of a comparison as data, with the same names in CSV and JSON. A cell never measured has its keys and
/// nothing else.
nlohmann::ordered_json comparison_record(const ComparisonData& data, const ComparisonRow& row,
                                         const std::string& scheme, const PlacedCell& placed);

}  // namespace gnnbench
