#pragma once
/// A database's content as JSON, for short comparisons.
#include <filesystem>
#include <string>
#include <type_traits>
#include <variant>

#include <nlohmann/json.hpp>

#include "record/query.hpp"

namespace gnnbench::samples {

/// The rows of a query.
inline nlohmann::json rows(const std::filesystem::path& database, const std::string& sql) {
    using nlohmann::json;
    json all = json::array();
    for (const auto& row : query(database, sql).rows) {
        json one = json::array();
        for (const SqlValue& v : row)
            std::visit(
                [&](const auto& x) {
                    if constexpr (std::is_same_v<std::decay_t<decltype(x)>, std::monostate>)
                        one.push_back(nullptr);
                    else
                        one.push_back(x);
                },
                v);
        all.push_back(one);
    }
    return all;
}

/// Every table's content, to compare two states of a database.
inline nlohmann::json everything(const std::filesystem::path& database) {
    using nlohmann::json;
    json all;
    for (const json& t : rows(database, "SELECT name FROM sqlite_schema WHERE type = 'table'")) {
        const std::string name = t[0];
        all[name] = rows(database, "SELECT * FROM " + name);
    }
    return all;
}

}  // namespace gnnbench::samples
