#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/format.hpp"

namespace gnnbench {

/// Columns of the terminal that stdout is; without one COLUMNS, if that is set; else 0, for no limit: what goes into a
/// pipe or a file is not folded.
std::size_t output_columns();

/// Lines of cells, the first of them heads, in at most `width` columns (0: any number). Texts fold at blanks within
/// their column; where that does not suffice, every line becomes a block with a line for each of its cells. Nothing is
/// cut, and no word or number broken: one that is longer than the terminal stands out.
std::string fitted_grid(std::span<const std::vector<std::string>> lines, std::span<const TextGrid::Align> columns,
                        std::string_view between, std::size_t width);

}  // namespace gnnbench
