#include "record/cell_filter.hpp"

#include <sqlite3.h>

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>
#include <gnnbench/spelling.hpp>
#include <gnnbench/usize.hpp>

#include "core/printable.hpp"

#include "record/expression_guard.hpp"
#include "record/sqlite.hpp"

namespace gnnbench {
namespace {

using nlohmann::json;

CellValue value_of(const json& j) {
    if (j.is_boolean()) return j.get<bool>();
    if (j.is_number_integer()) return j.get<std::int64_t>();
    if (j.is_number()) return j.get<double>();
    if (j.is_string()) return j.get<std::string>();
    if (j.is_null()) return {};
    if (j.is_array()) {  // [64, 32] is "64,32", as results show it; a list of one number is that number
        if (j.size() == 1 && j[0].is_number_float()) return j[0].get<double>();
        std::string all;
        for (const json& item : j) all += (all.empty() ? "" : ",") + item.dump();
        return all;
    }
    return j.dump();
}

/// What an identity leaves out where it is the default, since keys came later than the first cells (spec's
/// Field::is_later).
const CellFields later_fields_of_model = {
    {"model.heads", std::string("1")}, {"model.combine", std::string("concat")}, {"model.negative_slope", 0.2},
    {"model.residual", false},         {"model.attention_dropout", 0.0},         {"model.share_weights", false}};

/// SQL has no type of its own for true and false.
SqlValue in_sql(const CellValue& value) {
    return std::visit(
        [](const auto& v) -> SqlValue {
            if constexpr (std::is_same_v<std::decay_t<decltype(v)>, bool>)
                return std::int64_t{v};
            else
                return v;
        },
        value);
}

/// What cells have in a field, and the type that SQL gives it.
struct Column {
    bool whole = false, real = false;

    void add(const CellValue& value) {
        real |= std::holds_alternative<double>(value);
        whole |= std::holds_alternative<bool>(value) || std::holds_alternative<std::int64_t>(value);
    }
    /// NUMERIC would store 3.0 as an integer, whose quotients are integers.
    const char* type() const { return whole ? "NUMERIC" : real ? "REAL" : "TEXT"; }
};

/// An expression over a few fields takes microseconds a cell.
constexpr double limit_s = 10;
/// The longest text that a function of an expression may produce, in bytes, and the longest pattern of LIKE, so that no
/// single call, which the time limit cannot interrupt, takes long.
constexpr int longest_text = 1 << 20, longest_pattern = 1000;

/// "train" and "lr" of "train.lr"; "" and "gpus" of "gpus".
std::pair<std::string, std::string> split(const std::string& field) {
    const std::size_t dot = field.find('.');
    if (dot == std::string::npos) return {"", field};
    return {field.substr(0, dot), field.substr(dot + 1)};
}

/// The name in SQLite's error message: "no such column: gpu" → "gpu".
std::string after_colon(const std::string& message) {
    const std::size_t colon = message.find(": ");
    return colon == std::string::npos ? "" : message.substr(colon + 2);
}

}  // namespace

std::string text_of(const CellValue& value) {
    return std::visit(
        [](const auto& v) -> std::string {
            if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::monostate>)
                return "";
            else
                return fmt::format("{}", v);
        },
        value);
}

std::string field_text(const CellFields& cell, const std::string& field) {
    const auto found = cell.find(field);
    return found == cell.end() ? "" : text_of(found->second);
}

CellFields cell_fields(const json& identity) {
    CellFields fields;
    if (identity.contains("model"))
        for (const auto& [field, value] : later_fields_of_model) fields[field] = value;
    for (const auto& [key, value] : identity.items()) {
        if (key == "slowdown" && value.is_object()) {
            fields[key] = value_of(value.value("label", json()));
        } else if (!value.is_object()) {
            fields[key] = value_of(value);
        } else if (value.contains("name") && key != "dataset") {  // a plugin
            fields[key] = value_of(value.at("name"));
            fields[key + "_label"] = value_of(value.value("label", value.at("name")));
            // A graph in one part: its block partitioner does nothing, and tables show "none".
            const std::string label = value.value("label", "");
            if (key == "partitioner" && (label == "none" || label.starts_with("none("))) fields[key] = "none";
            if (const auto params = value.find("params"); params != value.end())
                for (const auto& [name, param] : params->items()) fields[key + "." + name] = value_of(param);
        } else if (key == "dataset") {
            fields[key] = value_of(value.value("name", json()));
            fields["dataset.split"] = value_of(value.value("split", json(0)));
            if (const auto source = value.find("source"); source != value.end() && source->is_object())
                for (const auto& [name, part] : source->items()) fields["dataset." + name] = value_of(part);
        } else {
            for (const auto& [name, part] : value.items())
                fields[key + "." + (name == "widths" ? "hidden" : name)] = value_of(part);
            if (const auto widths = value.find("widths"); widths != value.end())
                fields[key + ".depth"] = static_cast<std::int64_t>(widths->size()) + 1;
        }
    }
    return fields;
}

CellFilter::CellFilter(std::span<const CellFields> cells, std::span<const std::string> also)
    : cells_(cells.size()), connection_(std::make_unique<sqlite::Connection>(sqlite::Connection::in_memory())) {
    std::map<std::string, std::map<std::string, Column>> known;  // by table and column
    known[""]["gpus"].whole = true;                              // fields exist even without cells
    for (const std::string& field : also) {
        const auto [table, column] = split(field);
        known[table][column];
    }
    for (const CellFields& cell : cells)
        for (const auto& [field, value] : cell) {
            const auto [table, column] = split(field);
            known[table][column].add(value);
        }
    // A bare name is a column of "cell"; train.lr is SQL for the column lr of the table train.
    from_ = " FROM cell";
    sqlite::Transaction filling(*connection_);
    for (const auto& [table, names] : known) {
        const std::string name = sqlite::in_quotes(table.empty() ? "cell" : table);
        std::string columns;  // with types, so that gpus = '4' and model.hidden = 64 hold
        for (const auto& [column, holds] : names) {
            columns_[table].push_back(column);
            columns +=
                fmt::format("{}{} {}", columns.empty() ? "" : ", ", sqlite::in_quotes(column), holds.type());
        }
        connection_->execute(fmt::format("CREATE TABLE {} ({})", name, columns), "make room for cells");
        if (!table.empty()) from_ += fmt::format(" JOIN {0} ON {0}.rowid = cell.rowid", name);
    }
    for (const auto& [table, columns] : columns_) {
        std::string marks;
        for (std::size_t i = 0; i < columns.size(); ++i) marks += i ? ",?" : "?";
        auto add = connection_->prepare(
            fmt::format("INSERT INTO {} VALUES ({})", sqlite::in_quotes(table.empty() ? "cell" : table), marks),
            "note a cell");
        for (const CellFields& cell : cells) {
            add.reset();
            for (std::size_t i = 0; i < columns.size(); ++i) {
                const auto found = cell.find(table.empty() ? columns[i] : table + "." + columns[i]);
                add.bind_value(static_cast<int>(i) + 1, found == cell.end() ? SqlValue() : in_sql(found->second));
            }
            add.step();
        }
    }
    filling.commit();
    sqlite3_limit(connection_->handle(), SQLITE_LIMIT_LENGTH, longest_text);
    sqlite3_limit(connection_->handle(), SQLITE_LIMIT_LIKE_PATTERN_LENGTH, longest_pattern);
}

CellFilter::CellFilter(CellFilter&&) noexcept = default;
CellFilter::~CellFilter() = default;

std::string CellFilter::refusal(const std::string& expression, const std::string& cause, int offset) const {
    std::vector<std::string> names;
    for (const auto& [table, columns] : columns_)
        for (const std::string& column : columns) names.push_back(table.empty() ? column : table + "." + column);
    const std::string word = cause.find("no such column") == std::string::npos ? "" : after_colon(cause);
    std::string text = fmt::format(
        "expected an expression over a cell's fields, such as \"scheme = 'mg-gcn' AND "
        "gpus > 2\"; found \"{}\": {}",
        printable(expression), word.empty() ? cause : fmt::format("there is no field '{}'", word));
    if (offset > 0) text += fmt::format(" (at its character {})", offset);
    if (!word.empty()) {
        const std::string meant = did_you_mean(word, names);
        text += fmt::format("; fields: {}", fmt::join(names, ", "));
        text += meant.empty() ? fmt::format("; text is written '{}'", word) : meant;
    }
    return text;
}

void CellFilter::select(const std::string& before, const std::string& expression, const std::string& after,
                        const std::function<void(sqlite3_stmt*)>& row) const {
    if (const std::string why = why_no_expression(expression); !why.empty())
        throw SpecError(refusal(expression, why, 0));
    std::set<std::string> tables;
    for (const auto& [table, columns] : columns_) tables.insert(table.empty() ? "cell" : table);
    ExpressionGuard guard(connection_->handle(), std::move(tables));
    const TimeLimit limit(connection_->handle(), limit_s);
    // The line break closes a comment at the end of the expression.
    const std::string sql = before + expression + "\n" + after;
    const auto refused = [&](int code) {
        const int offset = sqlite3_error_offset(connection_->handle()) - static_cast<int>(before.size());
        const bool inside = offset >= 0 && offset < static_cast<int>(expression.size());
        if (!guard.refused().empty()) return SpecError(refusal(expression, guard.refused(), 0));
        if (code == SQLITE_INTERRUPT)
            return SpecError(refusal(expression, fmt::format("it takes longer than {} s", limit_s), 0));
        return SpecError(refusal(expression, sqlite3_errmsg(connection_->handle()), inside ? offset + 1 : 0));
    };
    sqlite3_stmt* raw = nullptr;
    int code = sqlite3_prepare_v2(connection_->handle(), sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(raw, sqlite3_finalize);
    if (code != SQLITE_OK) throw refused(code);
    while ((code = sqlite3_step(statement.get())) == SQLITE_ROW) row(statement.get());
    if (code != SQLITE_DONE) throw refused(code);
}

namespace {

/// The cell that a row is of, counted from 0.
std::size_t cell_of(sqlite3_stmt* row, std::size_t cells) {
    const std::int64_t id = sqlite3_column_int64(row, 0);
    require(id >= 1 && id <= static_cast<std::int64_t>(cells), "an expression chose a cell that does not exist");
    return usize(id) - 1;
}

}  // namespace

std::vector<bool> CellFilter::where(const std::string& expression) const {
    std::vector<bool> chosen(cells_, false);
    select("SELECT cell.rowid" + from_ + " WHERE (", expression, ")",
           [&](sqlite3_stmt* row) { chosen[cell_of(row, cells_)] = true; });
    return chosen;
}

std::vector<std::optional<double>> CellFilter::values(const std::string& expression) const {
    std::vector<std::optional<double>> all(cells_);
    select("SELECT cell.rowid, (", expression, ")" + from_ + " GROUP BY cell.rowid", [&](sqlite3_stmt* row) {
        const int type = sqlite3_column_type(row, 1);
        if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return;
        const double value = sqlite3_column_double(row, 1);
        if (std::isfinite(value)) all[cell_of(row, cells_)] = value;
    });
    return all;
}

}  // namespace gnnbench
