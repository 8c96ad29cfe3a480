#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace gnnbench {

/// What SQLite has in a field.
using SqlValue = std::variant<std::monostate, std::int64_t, double, std::string>;

struct QueryResult {
    std::vector<std::string> columns;
    std::vector<std::vector<SqlValue>> rows;
};

/// Runs one SQL statement on a database opened for reading; SQLite itself refuses writes. Throws SpecError with
/// SQLite's words where the SQL is at fault, EnvironmentError where the file is.
QueryResult query(const std::filesystem::path& database, const std::string& sql);

}  // namespace gnnbench
