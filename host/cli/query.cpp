#include <iostream>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "cli/options.hpp"
#include "cli/output.hpp"
#include "record/query.hpp"

namespace gnnbench {

namespace {

using nlohmann::json;

std::string to_text(const SqlValue& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
    if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    return "";
}

json to_json(const SqlValue& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
    if (const auto* real = std::get_if<double>(&value)) return *real;
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    return nullptr;
}

/// After RFC 4180: quoted where it has to be.
std::string csv_field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + '"';
}

std::string csv_line(const std::vector<std::string>& fields) {
    std::string line;
    for (std::size_t i = 0; i < fields.size(); ++i) line += (i ? "," : "") + csv_field(fields[i]);
    return line + '\n';
}

json rows_json(const QueryResult& result) {
    json rows = json::array();
    for (const auto& row : result.rows) {
        json object = json::object();
        for (std::size_t c = 0; c < row.size(); ++c) object[result.columns[c]] = to_json(row[c]);
        rows.push_back(std::move(object));
    }
    return rows;
}

int run_query(const std::filesystem::path& database, const std::string& sql, const std::string& format) {
    const QueryResult result = query(database, sql);
    if (format == "json") {
        print_json(std::cout, rows_json(result));
        return exit_ok;
    }
    TextColumns columns(result.columns);
    std::string csv = csv_line(result.columns);
    for (const auto& row : result.rows) {
        std::vector<std::string> fields;
        for (const SqlValue& value : row) fields.push_back(to_text(value));
        csv += csv_line(fields);
        columns.add(std::move(fields));
    }
    std::cout << (format == "csv" ? csv : columns.text());
    return exit_ok;
}

}  // namespace

void add_query(CLI::App& app, const GlobalOptions& options, Action& action) {
    CLI::App* command = app.add_subcommand("query", "Ask the results database in SQL; nothing can be changed");
    auto sql = std::make_shared<std::string>();
    auto format = std::make_shared<std::string>("text");
    command->add_option("sql", *sql, "\"SELECT … FROM …\"; for what there is: SELECT name, sql FROM sqlite_schema")
        ->required();
    command->add_flag_callback(
        "--json", [format] { *format = "json"; }, "As JSON");
    command->add_flag_callback(
        "--csv", [format] { *format = "csv"; }, "As CSV");
    command->callback(
        [&, sql, format] { action = [&, sql, format] { return run_query(options.database, *sql, *format); }; });
}

}  // namespace gnnbench
