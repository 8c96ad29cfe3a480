#include "record/cell_expression.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

namespace gnnbench {
namespace {

/// Preferred fields, in this order.
constexpr std::array first{"dataset", "scheme", "partitioner", "gpus"};

/// Digests and versions mean nothing to people, and a label repeats name and parameters.
bool is_for_people(const std::string& field) {
    return !field.ends_with("_label") && !field.ends_with("digest") && !field.ends_with("version");
}

std::string literal(const CellValue& value) {
    const auto* text = std::get_if<std::string>(&value);
    if (!text) return text_of(value);
    std::string quoted = "'";
    for (const char c : *text) quoted += c == '\'' ? "''" : std::string(1, c);
    return quoted + "'";
}

/// A field that not all cells agree on; of each cell the number of its value among the different ones.
struct Varying {
    std::string field;
    std::vector<CellValue> values;
    std::vector<std::size_t> of_cell;
};

std::vector<Varying> varying_fields_of(std::span<const CellFields> cells) {
    std::map<std::string, std::map<CellValue, std::size_t>> seen;
    for (const CellFields& cell : cells)
        for (const auto& [field, value] : cell)
            if (is_for_people(field)) seen[field].try_emplace(value, 0);
    std::vector<Varying> all;
    const auto add = [&](const std::string& field, std::map<CellValue, std::size_t>& numbers) {
        Varying v{field, {}, {}};
        for (const CellFields& cell : cells) {
            const auto found = cell.find(field);
            numbers.try_emplace(found == cell.end() ? CellValue() : found->second, 0);
        }
        for (auto& [value, number] : numbers) number = v.values.size(), v.values.push_back(value);
        if (v.values.size() < 2) return;
        for (const CellFields& cell : cells) {
            const auto found = cell.find(field);
            v.of_cell.push_back(numbers.at(found == cell.end() ? CellValue() : found->second));
        }
        all.push_back(std::move(v));
    };
    for (const char* field : first)
        if (auto node = seen.extract(field)) add(node.key(), node.mapped());
    for (auto& [field, numbers] : seen) add(field, numbers);
    return all;
}

}  // namespace

std::vector<std::string> cell_expressions(std::span<const CellFields> cells) {
    const std::vector<Varying> fields = varying_fields_of(cells);
    std::vector<std::string> all(cells.size());
    std::vector<std::size_t> every_cell(cells.size());
    std::iota(every_cell.begin(), every_cell.end(), std::size_t{0});
    for (std::size_t i = 0; i < cells.size(); ++i) {
        std::vector<std::size_t> left = every_cell;  // that the expression holds for
        for (const Varying& v : fields) {
            if (left.size() == 1) break;
            const std::size_t mine = v.of_cell[i];
            const std::size_t before = left.size();
            std::erase_if(left, [&](std::size_t other) { return v.of_cell[other] != mine; });
            if (left.size() == before) continue;
            const bool none = std::holds_alternative<std::monostate>(v.values[mine]);
            all[i] += fmt::format("{}{} {}", all[i].empty() ? "" : " AND ", v.field,
                                  none ? "IS NULL" : "= " + literal(v.values[mine]));
        }
    }
    return all;
}

}  // namespace gnnbench
