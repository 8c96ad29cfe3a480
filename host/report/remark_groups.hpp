#pragma once
#include <string>
#include <vector>

namespace gnnbench {

/// A row or a column, as lines above a table name it.
struct RemarkedLine {
    std::string section, label;
};

/// What is remarked on a place of a table.
struct RemarkedPlace {
    bool has_number = false, has_word = false;
    std::vector<std::string> remarks;
};

/// Remarks told once for as many places as they hold for.
struct RemarkGroups {
    std::vector<std::string> lines;                            ///< above the table
    std::vector<std::vector<std::vector<std::string>>> marks;  ///< [row][column]: what holds for this place alone
};

/// Marks beside single numbers that a table has at most; what would take more of them becomes lines.
inline constexpr int most_marks = 8;

/// What holds for every number, for whole rows or columns, or for all but some of them, becomes a line; the rest marks.
/// `places`: [row][column]. `row_head`: what rows are, "GPUs". `whose`: "ours" or "the paper's".
RemarkGroups grouped_remarks(const std::vector<std::vector<RemarkedPlace>>& places,
                             const std::vector<RemarkedLine>& rows, const std::vector<RemarkedLine>& columns,
                             const std::string& row_head, const std::string& whose);

}  // namespace gnnbench
