#include "record/schema.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>
#include <gnnbench/spelling.hpp>

#include "record/migrations.hpp"

namespace gnnbench {
namespace {

constexpr const char* all_of_it =
    "SELECT s.name, s.type AS kind, (SELECT group_concat(p.name, ', ') FROM pragma_table_xinfo(s.name) p) AS "
    "columns "
    "FROM sqlite_schema s WHERE s.type IN ('view', 'table') ORDER BY s.type DESC, s.name";

std::vector<std::string> names(const sqlite::Connection& c, const std::string& sql) {
    auto q = c.prepare(sql, "read the schema");
    std::vector<std::string> all;
    while (q.step()) all.push_back(q.text(0));
    return all;
}

const std::string every_relation =
    "SELECT name FROM sqlite_schema WHERE type IN ('view', 'table') ORDER BY type DESC, name";

/// The word after `what` in SQLite's message: "no such column: t.gpu" → "gpu".
std::string word_after(const std::string& complaint, const std::string& what) {
    const std::size_t at = complaint.find(what);
    if (at == std::string::npos) return {};
    const std::size_t begin = at + what.size();
    std::string word = complaint.substr(begin, complaint.find_first_of(" \n:,;", begin) - begin);
    while (word.ends_with('.')) word.pop_back();
    return word.substr(word.rfind('.') + 1);  // npos + 1 is 0
}

}  // namespace

QueryResult schema(const std::string& name) {
    sqlite::Connection c = sqlite::Connection::in_memory();
    for (const Migration& m : shipped_migrations()) c.execute(m.sql, "lay out the schema");
    QueryResult result;
    if (name.empty()) {
        result.columns = {"name", "kind", "columns"};
        auto q = c.prepare(all_of_it, "read the schema");
        while (q.step()) result.rows.push_back({q.text(0), q.text(1), q.text(2)});
        return result;
    }
    result.columns = {"column", "type"};
    auto q = c.prepare("SELECT name, type FROM pragma_table_xinfo(?)", "read the schema");
    q.bind(name);
    while (q.step()) result.rows.push_back({q.text(0), q.text(1)});
    if (result.rows.empty()) {
        const auto known = names(c, every_relation);
        throw SpecError(fmt::format("there is no view or table '{}'; there are: {}{}", name,
                                    fmt::join(known, ", "), did_you_mean(name, known)));
    }
    return result;
}

std::string view_reference() {
    std::string text = "| view | columns |\n| --- | --- |\n";
    for (const SqlRow& row : schema().rows)
        if (std::get<std::string>(row[1]) == "view")
            text += fmt::format("| `{}` | {} |\n", std::get<std::string>(row[0]), std::get<std::string>(row[2]));
    return text;
}

std::string nearest_name(const sqlite::Connection& c, const std::string& sql, const std::string& complaint) {
    if (const std::string table = word_after(complaint, "no such table: "); !table.empty())
        return did_you_mean(table, names(c, every_relation)) + " (gnnbench query --schema lists them)";
    const std::string column = word_after(complaint, "no such column: ");
    if (column.empty()) return {};
    std::vector<std::string> known;
    for (const std::string& relation : names(c, every_relation)) {
        if (sql.find(relation) == std::string::npos) continue;
        for (std::string& name : names(c, fmt::format("SELECT name FROM pragma_table_xinfo('{}')", relation)))
            known.push_back(std::move(name));
    }
    return did_you_mean(column, known) + " (gnnbench query --schema lists all columns)";
}

}  // namespace gnnbench
