#pragma once
#include <span>
#include <string>
#include <vector>

#include "record/cell_filter.hpp"

namespace gnnbench {

/// For each cell an expression (see CellFilter) that matches it and, if its fields differ from all others', no
/// other of these: "scheme = 'mg-gcn' AND gpus = 4". Empty if there is only one cell.
std::vector<std::string> cell_expressions(std::span<const CellFields> cells);

}  // namespace gnnbench
