#include "spec/cell_choice.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>

namespace gnnbench {
namespace {

using nlohmann::json;

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

/// The keys of a cell's identity that expressions may name: those with a field whose name occurs in them.
class NeededKeys {
public:
    explicit NeededKeys(std::span<const std::string> expressions) {
        for (const std::string& e : expressions) text_ += lower(e) + '\n';
    }
    /// `kind`: cells of one kind have the same fields under this key.
    bool key(const Cell& cell, std::string_view name, const std::string& kind) {
        const auto [it, fresh] = known_.try_emplace(std::string(name) + '\n' + kind, false);
        if (fresh)
            for (const auto& [field, value] : cell_fields(json{{std::string(name), identity_part(cell, name)}}))
                it->second |= text_.find(lower(field.substr(field.find('.') + 1))) != std::string::npos;
        return it->second;
    }

private:
    std::string text_;
    std::map<std::string, bool> known_;
};

std::string keys_of(const json& object) {
    std::string all;
    for (const auto& [key, value] : object.items()) all += key + ' ';
    return all;
}

std::vector<CellFields> fields_of(std::span<const Cell> cells, std::span<const std::string> expressions) {
    std::vector<CellFields> all;
    all.reserve(cells.size());
    NeededKeys needed(expressions);
    for (const Cell& cell : cells) {
        json named = json::object();
        for (const std::string_view key : identity_keys()) {
            const std::string kind = key == "scheme"        ? cell.scheme.name
                                     : key == "partitioner" ? cell.partitioner.name
                                     : key == "kernel"      ? cell.kernel.name
                                     : key == "dataset"     ? keys_of(*cell.dataset.source)
                                     : key == "slowdown"    ? (cell.slowdown.declared() ? "declared" : "")
                                     : key == "model"       ? std::to_string(static_cast<int>(cell.model.kind))
                                                            : "";
            if (needed.key(cell, key, kind)) named[std::string(key)] = identity_part(cell, key);
        }
        all.push_back(cell_fields(named));
    }
    return all;
}

/// Whether `field` stands in the expression by itself, not as a part of a longer name.
bool names_field(const std::string& expression, const std::string& field) {
    const auto of_name = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
    };
    for (std::size_t at = expression.find(field); at != std::string::npos; at = expression.find(field, at + 1)) {
        const std::size_t end = at + field.size();
        if ((at == 0 || !of_name(expression[at - 1])) && (end == expression.size() || !of_name(expression[end])))
            return true;
    }
    return false;
}

/// As an expression would write it.
std::string shown(const CellValue& value) {
    if (std::holds_alternative<std::monostate>(value)) return "NULL";
    return std::holds_alternative<std::string>(value) ? "'" + text_of(value) + "'" : text_of(value);
}

}  // namespace

CellChoice::CellChoice(std::span<const Cell> cells, std::span<const std::string> expressions)
    : cells_(cells), filter_(fields_of(cells, expressions)) {}

std::vector<bool> CellChoice::where(const std::string& expression) const {
    try {
        return filter_.where(expression);
    } catch (const SpecError&) {
        // Repeats the error with all existing fields.
        if (!all_fields_) {
            std::vector<CellFields> fields;
            for (const Cell& cell : cells_) fields.push_back(cell_fields(to_json(cell, JsonFor::identity)));
            all_fields_.emplace(fields);
        }
        return all_fields_->where(expression);
    }
}

std::string CellChoice::values_of_fields(const std::string& expression) const {
    std::map<std::string, std::vector<std::string>>
        values;  // of the fields that are named, in order of appearance
    const std::string text = lower(expression);
    for (const Cell& cell : cells_)
        for (const auto& [field, value] : cell_fields(to_json(cell, JsonFor::identity))) {
            if (!names_field(text, lower(field))) continue;
            std::vector<std::string>& seen = values[field];
            std::string word = shown(value);
            if (std::ranges::find(seen, word) == seen.end()) seen.push_back(std::move(word));
        }
    std::vector<std::string> parts;
    constexpr std::size_t most = 12;
    for (auto& [field, seen] : values) {
        const std::size_t all = seen.size();
        if (all > most) seen.resize(most);
        parts.push_back(fmt::format("{} is {}{}", field, fmt::join(seen, ", "),
                                    all > most ? fmt::format(" or one of {} more", all - most) : ""));
    }
    return parts.empty() ? "it names no field" : fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace gnnbench
