#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace gnnbench {

/// What SQLite has in a field.
using SqlValue = std::variant<std::monostate, std::int64_t, double, std::string>;
using SqlRow = std::vector<SqlValue>;

struct QueryResult {
    std::vector<std::string> columns;
    std::vector<SqlRow> rows;
};

/// Runs one SQL statement on a database opened for reading; SQLite itself refuses writes. `arguments` are bound to ?1,
/// ?2 … Throws SpecError with SQLite's words where the SQL is at fault or it takes longer than `timeout_s` (0: no limit),
/// EnvironmentError where the file is.
QueryResult query(const std::filesystem::path& database, const std::string& sql,
                  std::span<const SqlValue> arguments = {}, double timeout_s = 0);
/// The same without keeping rows. Returns the columns' names; `row` is called after they are given to `columns`.
void query_each(const std::filesystem::path& database, const std::string& sql, std::span<const SqlValue> arguments,
                const std::function<void(const std::vector<std::string>&)>& columns,
                const std::function<void(const SqlRow&)>& row, double timeout_s = 0);

/// A query that ships with the program (schemas/queries).
struct NamedQuery {
    std::string name, summary;
    std::string argument;  ///< what its ?1 is, in words; empty: it takes none
    std::string sql;
};
std::vector<NamedQuery> named_queries();
/// Throws SpecError naming those there are.
NamedQuery named_query(const std::string& name);

}  // namespace gnnbench
