#pragma once
#include <optional>

#include "report/resolved_table.hpp"

namespace gnnbench {

/// A figure's numbers by the size of the graphs they are of. What was measured on scaled-down graphs and the paper's numbers,
/// or simulated ones of its size, share no axis: readers would join them.
struct FigureScales {
    ResolvedTable papers;  ///< without what was measured on smaller graphs, where there is `smaller`
    std::optional<ResolvedTable> smaller;  ///< that alone; nothing where all numbers are of one size
};
FigureScales by_scale(const ResolvedTable& resolved);

}  // namespace gnnbench
