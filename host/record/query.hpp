#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace gnnbench {

/// A value of an SQLite column.
using SqlValue = std::variant<std::monostate, std::int64_t, double, std::string>;
using SqlRow = std::vector<SqlValue>;

struct QueryResult {
    std::vector<std::string> columns;
    std::vector<SqlRow> rows;
};

/// Runs one SQL statement on a database opened for reading; SQLite itself refuses writes. Beside SQLite's functions there
/// are those of sql_functions.hpp. `arguments` are bound to ?1,
/// ?2 … `where`: an expression over cells' fields (see CellFilter), by which tables and views have rows of the chosen cells
/// alone; empty: all. Throws SpecError with SQLite's message if the SQL is at fault or takes longer than `timeout_s`
/// (0: no limit), EnvironmentError if the file is.
QueryResult query(const std::filesystem::path& database, const std::string& sql,
                  std::span<const SqlValue> arguments = {}, double timeout_s = 0, const std::string& where = "");
/// The same, streaming the rows: calls `columns` once with the columns' names, then `row` for each row.
void query_each(const std::filesystem::path& database, const std::string& sql, std::span<const SqlValue> arguments,
                const std::function<void(const std::vector<std::string>&)>& columns,
                const std::function<void(const SqlRow&)>& row, double timeout_s = 0,
                const std::string& where = "");

/// A query that ships with the program (schemas/queries).
struct NamedQuery {
    std::string name, summary;
    std::string argument;  ///< description of its ?1; empty: it takes no argument
    std::string sql;
};
std::vector<NamedQuery> named_queries();
/// Throws SpecError naming the existing ones.
NamedQuery named_query(const std::string& name);

}  // namespace gnnbench
