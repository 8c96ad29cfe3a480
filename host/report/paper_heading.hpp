#pragma once
#include <string>
#include <vector>

#include "report/remark_groups.hpp"
#include "report/resolved_table.hpp"

namespace gnnbench {

/// Remarks on our numbers and on simulated ones, and errata of the paper's.
struct TableRemarks {
    RemarkGroups ours, simulated, published;
};
TableRemarks table_remarks(const ResolvedTable& resolved);

/// The caption of a table or figure: what it is, the source of its numbers, what differs from the paper's setting, and
/// what holds for all of ours, or for whole rows and columns.
std::vector<std::string> paper_heading(const ResolvedTable& resolved);

/// Remarks of a figure, which has no footnotes, on some of the numbers that it draws: that they are not a scaling
/// result.
std::vector<std::string> remarks_on_figure(const ResolvedTable& resolved);

}  // namespace gnnbench
