#pragma once
#include <string>
#include <vector>

#include "report/remark_groups.hpp"
#include "report/resolved_table.hpp"

namespace gnnbench {

/// What is to be said of our numbers, and what is wrong with the paper's.
struct TableRemarks {
    RemarkGroups ours, published;
};
TableRemarks table_remarks(const ResolvedTable& resolved);

/// Lines that say what a table or figure is, where its numbers come from, what differs from the paper's setting, and
/// what holds for all of ours, or for whole rows and columns.
std::vector<std::string> paper_heading(const ResolvedTable& resolved);

/// What a figure, which has no footnotes, has to say of some of the numbers that it draws: that they are no scaling
/// result.
std::vector<std::string> remarks_on_figure(const ResolvedTable& resolved);

}  // namespace gnnbench
