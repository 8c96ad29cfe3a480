#include "record/query.hpp"

#include <sqlite3.h>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "record/sqlite.hpp"

namespace gnnbench {
namespace {

/// True if `sql` holds a second statement after the first.
bool holds_more(sqlite3* c, const std::string& sql) {
    const char* tail = nullptr;
    sqlite3_stmt* raw = nullptr;
    sqlite3_prepare_v2(c, sql.c_str(), -1, &raw, &tail);
    sqlite3_finalize(raw);
    if (!tail || !*tail) return false;
    const int code = sqlite3_prepare_v2(c, tail, -1, &raw, nullptr);
    const bool statement = raw != nullptr;  // nullptr: only blanks and comments
    sqlite3_finalize(raw);
    return statement || code != SQLITE_OK;
}

}  // namespace

QueryResult query(const std::filesystem::path& path, const std::string& sql) {
    std::error_code error;
    if (!std::filesystem::exists(path, error))
        throw SpecError(fmt::format(
            "there is no database {}. `gnnbench run` makes it; name another with --database.", path.string()));
    const sqlite::Connection connection(path, sqlite::Access::read_only);
    if (sql.find_first_not_of(" \t\r\n;") == std::string::npos)
        throw SpecError("the query is empty: one SQL statement was expected, such as \"SELECT * FROM trials\".");
    sqlite::Statement s = connection.prepare(sql, "run the query");
    if (holds_more(connection.handle(), sql))
        throw SpecError("the query holds more than one SQL statement: one at a time is run.");
    QueryResult result;
    for (int c = 0; c < s.columns(); ++c) result.columns.push_back(s.column_name(c));
    while (s.step()) {
        std::vector<SqlValue> row;
        row.reserve(result.columns.size());
        for (int c = 0; c < s.columns(); ++c) row.push_back(s.value(c));
        result.rows.push_back(std::move(row));
    }
    return result;
}

}  // namespace gnnbench
