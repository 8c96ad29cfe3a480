#pragma once
#include <string>

#include "record/query.hpp"
#include "report/format.hpp"
#include "report/table_model.hpp"

namespace gnnbench {

/// A query's result. CSV has NULL as nothing, JSON has it as null; JSON is a list of objects.
std::string render_rows(const QueryResult& result, OutputFormat format);
/// The same in memory, for the formats that only tables have.
Table rows_table(const QueryResult& result);
/// Numbers as they are stored.
std::string field_text(const SqlValue& value);
/// Numbers as people read them: four significant digits, and all of an integer's.
std::string rounded_text(const SqlValue& value);
/// One line of it as CSV.
std::string csv_row(const SqlRow& row);

}  // namespace gnnbench
