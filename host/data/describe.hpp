#pragma once
#include <nlohmann/json.hpp>

#include <data/store.hpp>

namespace gnnbench {

/// What `gnnbench dataset info` shows: the manifest's fields, and of the graph {"degrees": {minimum, median, mean,
/// maximum, zero_rows, zero_columns}, "components", "largest_component" (directions ignored)}, and of every split
/// {"train", "validation", "test", "none"} and of every class its vertices. Reads the whole graph.
nlohmann::json describe(const Store& store);

}  // namespace gnnbench
