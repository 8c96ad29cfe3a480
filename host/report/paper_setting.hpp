#pragma once
#include <string>
#include <vector>

#include "report/resolved_table.hpp"

namespace gnnbench {

/// The fields that a place's number depends on in which it has not the paper's value, or the paper's is not named.
std::vector<std::string> fields_unlike_paper(const ResolvedCell& place);

/// Whether a place's graphs are the paper's: measured ones are not synthetic, simulated ones may be if they have the paper's
/// numbers of vertices within 5% (papers round them).
bool has_papers_graph(const ResolvedCell& place);
bool has_graph_of_papers_size(const ResolvedCell& place, const ResolvedTable& resolved);
/// Whether what was measured is of graphs as large as the paper's.
bool has_measured_graph_of_papers_size(const ResolvedCell& place, const ResolvedTable& resolved);

/// Whether our number has the paper's dataset, model and number of devices, as far as its kind depends on them: for
/// counts of a graph the dataset, for quotients of volumes dataset and devices. `where` must name each, the paper's
/// value first; a synthetic graph is never the paper's, whatever its name, and a simulated number never ours.
bool is_papers_setting(const ResolvedCell& place);

/// The same of a simulated number.
bool is_of_papers_size(const ResolvedCell& place, const ResolvedTable& resolved);

/// What differs between our numbers and the paper's: scale of the graphs, hidden widths, ranks, device. Empty if
/// nothing does, or if the table has no pair of numbers.
std::string setting_differences(const ResolvedTable& resolved);

}  // namespace gnnbench
