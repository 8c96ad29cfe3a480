#pragma once
#include <span>
#include <string>
#include <vector>

#include "record/cell_filter.hpp"

namespace gnnbench {

/// For each cell an expression (see CellFilter) that holds for it and, if its fields differ from all others', for no
/// other of these: "scheme = 'mg-gcn' AND gpus = 4". Empty where there is one cell.
std::vector<std::string> cell_expressions(std::span<const CellFields> cells);

}  // namespace gnnbench
