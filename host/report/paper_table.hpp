#pragma once
#include "report/resolved_table.hpp"
#include "report/table_model.hpp"

namespace gnnbench {

/// A paper's table: under each column our number, the paper's, and their ratio.
Table paper_table(const ResolvedTable& resolved);

/// A number in its shown unit, as text.
std::string shown_number(double value, const Measure& measure);
/// The paper's number, in the place's unit where it has one.
std::string shown_published(const ResolvedCell& place);
/// The unit of a place: "ms"; empty: a number without unit.
std::string unit_of(const ResolvedCell& place);

}  // namespace gnnbench
