#pragma once
#include <string>

#include "record/query.hpp"
#include "record/sqlite.hpp"

namespace gnnbench {

/// The views and tables of the newest schema: name, kind, columns. Of one that is named, a row for each column.
/// Throws SpecError with the nearest name where there is none of that name.
QueryResult schema(const std::string& name = {});

/// Every view's columns as a Markdown table, for docs/database.md.
std::string view_reference();

/// What SQLite's message about an unknown column or table should have been: ` did you mean 'gpus'?`, among the names
/// that a statement on this database may use. Empty where it complains of something else, or nothing is near.
std::string nearest_name(const sqlite::Connection& connection, const std::string& sql,
                         const std::string& complaint);

}  // namespace gnnbench
