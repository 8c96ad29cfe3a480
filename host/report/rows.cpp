#include "report/rows.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/table_render.hpp"

namespace gnnbench {

std::string field_text(const SqlValue& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *integer);
    if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    return "";
}

std::string rounded_text(const SqlValue& value) {
    const auto* real = std::get_if<double>(&value);
    if (!real || !std::isfinite(*real)) return field_text(value);
    const double size = std::abs(*real);
    if (size == 0) return "0";
    if (size < 1e-4 || size >= 1e15) return fmt::format("{:.4g}", *real);
    const int decimals = std::max(0, 3 - static_cast<int>(std::floor(std::log10(size))));
    std::string text = fmt::format("{:.{}f}", *real, decimals);
    if (decimals > 0) text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text;
}

namespace {

using Align = TextGrid::Align;

/// On one line, so that columns stay columns.
std::string on_one_line(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '\n')
            out += "\\n";
        else if (c == '\t')
            out += ' ';
        else if (c != '\r')
            out += c;
    }
    return out;
}

std::vector<Align> alignment(const QueryResult& result) {
    std::vector<Align> columns(result.columns.size(), Align::right);
    for (const auto& row : result.rows)
        for (std::size_t c = 0; c < row.size(); ++c)
            if (std::holds_alternative<std::string>(row[c])) columns[c] = Align::left;
    return columns;
}

std::string as_text(const QueryResult& result) {
    TextGrid grid(alignment(result));
    grid.add(result.columns);
    for (const auto& row : result.rows) {
        std::vector<std::string> line;
        for (const SqlValue& v : row) line.push_back(on_one_line(rounded_text(v)));
        grid.add(line);
    }
    return grid.text();
}

std::string as_markdown(const QueryResult& result) {
    std::vector<std::string> heads, rules;
    const auto aligned = alignment(result);
    for (std::size_t c = 0; c < result.columns.size(); ++c) {
        heads.push_back(markdown_escaped(result.columns[c]));
        rules.emplace_back(aligned[c] == Align::right ? "---:" : "---");
    }
    std::string all = markdown_line(heads) + markdown_line(rules);
    for (const auto& row : result.rows) {
        std::vector<std::string> line;
        for (const SqlValue& v : row) line.push_back(markdown_escaped(rounded_text(v)));
        all += markdown_line(line);
    }
    return all;
}

std::string as_csv(const QueryResult& result) {
    std::string all = csv_line(result.columns);
    for (const auto& row : result.rows) all += csv_row(row);
    return all;
}

std::string as_json(const QueryResult& result) {
    using nlohmann::ordered_json;
    ordered_json rows = ordered_json::array();
    for (const auto& row : result.rows) {
        ordered_json object = ordered_json::object();
        for (std::size_t c = 0; c < row.size(); ++c) {
            std::string name = result.columns[c];
            for (int n = 2; object.contains(name); ++n) name = fmt::format("{}_{}", result.columns[c], n);
            std::visit(
                [&](const auto& v) {
                    if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::monostate>)
                        object[name] = nullptr;
                    else
                        object[name] = v;
                },
                row[c]);
        }
        rows.push_back(std::move(object));
    }
    return rows.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

Table rows_table(const QueryResult& result) {
    Table table;
    table.name = "query";
    table.nothing = "no rows";
    const auto aligned = alignment(result);
    for (std::size_t c = 0; c < result.columns.size(); ++c)
        table.keys.push_back({result.columns[c], aligned[c] == Align::left});
    for (const auto& row : result.rows) {
        Table::Row& line = table.rows.emplace_back();
        for (const SqlValue& v : row) line.keys.push_back(rounded_text(v));
    }
    return table;
}

std::string csv_row(const SqlRow& row) {
    std::vector<std::string> line;
    for (const SqlValue& v : row) line.push_back(field_text(v));
    return csv_line(line);
}

std::string render_rows(const QueryResult& result, OutputFormat format) {
    switch (format) {
        case OutputFormat::text:
            return as_text(result);
        case OutputFormat::markdown:
            return as_markdown(result);
        case OutputFormat::csv:
            return as_csv(result);
        case OutputFormat::json:
            return as_json(result);
        case OutputFormat::latex:
        case OutputFormat::html:
            return render(rows_table(result), format);
    }
    return "";
}

}  // namespace gnnbench
