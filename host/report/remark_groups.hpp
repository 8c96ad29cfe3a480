#pragma once
#include <string>
#include <vector>

namespace gnnbench {

/// A row or a column, as lines above a table name it.
struct RemarkedLine {
    std::string section, label;
};

/// The remarks on a place of a table.
struct RemarkedPlace {
    bool has_number = false, has_word = false;
    std::vector<std::string> remarks;
};

/// Remarks, each stated once for all places that it applies to.
struct RemarkGroups {
    std::vector<std::string> lines;                            ///< above the table
    std::vector<std::vector<std::vector<std::string>>> marks;  ///< [row][column]: what applies to this place only
};

/// The most marks on single numbers in a table; further remarks become lines.
inline constexpr int most_marks = 8;

/// What applies to every number, to whole rows or columns, or to all but some, becomes a line; the rest become marks.
/// `places`: [row][column]. `row_head`: what rows are, "GPUs". `whose`: "ours" or "the paper's".
RemarkGroups grouped_remarks(const std::vector<std::vector<RemarkedPlace>>& places,
                             const std::vector<RemarkedLine>& rows, const std::vector<RemarkedLine>& columns,
                             const std::string& row_head, const std::string& whose);

}  // namespace gnnbench
