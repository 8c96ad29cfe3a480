#pragma once
#include <string>

#include "report/resolved_table.hpp"

namespace gnnbench {

/// Whether our number is of the paper's dataset, model and number of devices, as far as its kind depends on them: of
/// counts of a graph the dataset, of quotients of volumes dataset and devices. `where` has to name each, the paper's
/// value first; a graph that was made up is not the paper's, whatever its name.
bool is_papers_setting(const ResolvedCell& place);

/// What differs between our numbers and the paper's: scale of the graphs, hidden widths, ranks, device. Empty where
/// nothing does, or the table has no number of both.
std::string setting_differences(const ResolvedTable& resolved);

}  // namespace gnnbench
