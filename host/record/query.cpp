#include "record/query.hpp"

#include <sqlite3.h>

#include <map>
#include <set>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "record/choice.hpp"
#include "record/expression_guard.hpp"
#include "record/migrations.hpp"
#include "record/schema.hpp"
#include "record/sql_functions.hpp"
#include "record/sqlite.hpp"

namespace gnnbench {
namespace {

/// True if `sql` holds a second statement after the first.
bool has_second_statement(sqlite3* c, const std::string& sql) {
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

/// The database as it is; an older one is brought up to date where the statement may need what that brings.
sqlite::Connection connection_for(const std::filesystem::path& path, const std::string& sql) {
    sqlite::Connection as_it_is(path, sqlite::Access::read_only);
    sqlite::add_statistics(as_it_is.handle());
    try {
        as_it_is.prepare(sql, "run the query");
        return as_it_is;
    } catch (const SpecError&) {  // NOLINT(bugprone-empty-catch): perhaps it needs the views of today
    }
    try {
        sqlite::Connection of_today = open_to_read(path);
        sqlite::add_statistics(of_today.handle());
        return of_today;
    } catch (const EnvironmentError&) {  // it cannot be written, or is of some other program
        return as_it_is;
    }
}

/// Lays a temporary view over each table and view whose rows are of cells, with those of the chosen ones alone. The views
/// of the database itself still read everything, so that a speed-up is over its base whether that is chosen or not.
void restrict_to(sqlite::Connection& connection, const std::string& where) {
    const std::set<std::int64_t> chosen = cells_where(connection, where);
    // What is temporary is no write to the database, which is open for reading.
    connection.execute(
        "PRAGMA query_only = OFF; CREATE TEMP TABLE chosen_cell (id INTEGER PRIMARY KEY, digest TEXT)",
        "choose cells");
    auto add = connection.prepare("INSERT INTO chosen_cell SELECT id, digest FROM main.cell WHERE id = ?",
                                  "choose cells");
    for (const std::int64_t id : chosen) add.run(id);
    // A cell is known by its row id, or, in views for people, by its digest; so is a trial, where there is no cell.
    const std::map<std::string, std::string> by_column{
        {"cell", "cell IN (SELECT digest FROM temp.chosen_cell)"},
        {"cell_id", "cell_id IN (SELECT id FROM temp.chosen_cell)"},
        {"trial", "trial IN (SELECT uuid FROM main.trial WHERE cell_id IN (SELECT id FROM temp.chosen_cell))"},
        {"trial_id",
         "trial_id IN (SELECT id FROM main.trial WHERE cell_id IN (SELECT id FROM temp.chosen_cell))"}};
    std::map<std::string, std::string> conditions{{"cell", "id IN (SELECT id FROM temp.chosen_cell)"}};
    auto of_cells = connection.prepare(
        "SELECT s.name, p.name FROM main.sqlite_schema s JOIN pragma_table_info(s.name) p "
        "WHERE s.type IN ('table', 'view') AND p.name IN ('cell', 'cell_id', 'trial', 'trial_id') "
        "ORDER BY s.name, p.name",
        "look for what has cells");
    while (of_cells.step()) conditions.emplace(of_cells.text(0), by_column.at(of_cells.text(1)));
    for (const auto& [name, condition] : conditions)
        connection.execute(fmt::format("CREATE TEMP VIEW {0} AS SELECT * FROM main.{0} WHERE {1}",
                                       sqlite::in_quotes(name), condition),
                           "choose cells");
    connection.execute("PRAGMA query_only = ON", "choose cells");
}

sqlite::Statement prepared(const sqlite::Connection& connection, const std::string& sql) {
    try {
        return connection.prepare(sql, "run the query");
    } catch (const SpecError& e) {
        const std::string hint = nearest_name(connection, sql, e.what());
        if (hint.empty()) throw;
        throw SpecError(e.what() + hint);
    }
}

}  // namespace

void query_each(const std::filesystem::path& path, const std::string& sql, std::span<const SqlValue> arguments,
                const std::function<void(const std::vector<std::string>&)>& columns,
                const std::function<void(const SqlRow&)>& row, double timeout_s, const std::string& where) {
    require_database(path);
    if (sql.find_first_not_of(" \t\r\n;") == std::string::npos)
        throw SpecError("the query is empty: expected one SQL statement, such as \"SELECT * FROM trials\".");
    sqlite::Connection connection = connection_for(path, sql);
    if (!where.empty()) restrict_to(connection, where);
    sqlite::Statement s = prepared(connection, sql);
    if (has_second_statement(connection.handle(), sql))
        throw SpecError("the query contains more than one SQL statement; only one is allowed.");
    for (std::size_t i = 0; i < arguments.size(); ++i) s.bind_value(static_cast<int>(i) + 1, arguments[i]);
    std::vector<std::string> names;
    for (int c = 0; c < s.columns(); ++c) names.push_back(s.column_name(c));
    columns(names);
    SqlRow values(names.size());
    const TimeLimit limit(connection.handle(), timeout_s);
    const auto next = [&] {
        try {
            return s.step();
        } catch (const Error&) {
            if (!limit.passed()) throw;
            throw SpecError(
                fmt::format("the query took longer than {} s and was ended; bound it with LIMIT, or allow more "
                            "with --timeout.",
                            timeout_s));
        }
    };
    while (next()) {
        for (std::size_t c = 0; c < values.size(); ++c) values[c] = s.value(static_cast<int>(c));
        row(values);
    }
}

QueryResult query(const std::filesystem::path& path, const std::string& sql, std::span<const SqlValue> arguments,
                  double timeout_s, const std::string& where) {
    QueryResult result;
    query_each(
        path, sql, arguments, [&](const auto& names) { result.columns = names; },
        [&](const SqlRow& row) { result.rows.push_back(row); }, timeout_s, where);
    return result;
}

}  // namespace gnnbench
