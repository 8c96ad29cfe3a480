#pragma once
#include "report/resolved_table.hpp"
#include "report/table_model.hpp"

namespace gnnbench {

/// A paper's table: under each column our number, the paper's, and their ratio.
Table paper_table(const ResolvedTable& resolved);

/// Lines that say what a table or figure is, where its numbers come from, and what holds for all of ours.
std::vector<std::string> paper_heading(const ResolvedTable& resolved);

/// Remarks that hold for every one of our numbers, if there are at least two.
std::vector<std::string> remarks_everywhere(const ResolvedTable& resolved);

/// What a figure, which has no footnotes, has to say of some of our numbers: that they are no scaling result.
std::vector<std::string> remarks_on_figure(const ResolvedTable& resolved);

/// A number in its shown unit, as text.
std::string shown_number(double value, const Measure& measure);
/// The paper's number, in the place's unit where it has one.
std::string shown_published(const ResolvedCell& place);
/// What a place is in: "ms"; empty: a bare number.
std::string unit_of(const ResolvedCell& place);

}  // namespace gnnbench
