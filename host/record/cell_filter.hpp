#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "record/query.hpp"

struct sqlite3_stmt;

namespace gnnbench {

namespace sqlite {
class Connection;
}

using CellValue = std::variant<std::monostate, bool, std::int64_t, double, std::string>;
/// The names of a cell's fields in expressions: "gpus", "train.lr", "scheme.overlap".
using CellFields = std::map<std::string, CellValue>;
/// As results show it: "false", "4", "0.01", "64,64".
std::string text_of(const CellValue& value);
/// The same of a field; "" where the cell has none of that name.
std::string field_text(const CellFields& cell, const std::string& field);
/// From a cell's identity (see spec/cell.hpp): plugins and the dataset by name, their parameters after a dot.
CellFields cell_fields(const nlohmann::json& identity);

/// Selects cells by expressions. An expression is SQL over one cell's fields, as in `gnnbench query`:
/// "scheme = 'mg-gcn' AND gpus > 2 AND NOT scheme.overlap". SQLite evaluates it, on a database in memory. It comes from
/// the experiment's author, so it must be a single expression (no subquery, no other table), and its time is limited.
class CellFilter {
public:
    /// `also`: fields that an expression may name though none of the cells has them.
    explicit CellFilter(std::span<const CellFields> cells, std::span<const std::string> also = {});
    CellFilter(CellFilter&&) noexcept;
    ~CellFilter();
    /// For each cell whether the expression holds; unknown (NULL: a parameter that its scheme has not) is no.
    /// Throws SpecError that names the error in the expression, and the existing fields.
    std::vector<bool> where(const std::string& expression) const;
    /// The expression's value for each cell; empty where it is unknown, no number, or not finite. Throws likewise.
    std::vector<std::optional<double>> values(const std::string& expression) const;

private:
    /// Runs `before` + expression + `after`, whose first column is a cell's row, and calls `row` for each row.
    void select(const std::string& before, const std::string& expression, const std::string& after,
                const std::function<void(sqlite3_stmt* row)>& row) const;
    std::string refusal(const std::string& expression, const std::string& cause, int offset) const;

    std::map<std::string, std::vector<std::string>> columns_;  ///< by table: "", "train", "scheme" …
    std::size_t cells_;
    std::unique_ptr<sqlite::Connection> connection_;
    std::string from_;  ///< FROM all tables, by cell
};

}  // namespace gnnbench
