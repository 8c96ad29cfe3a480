#include "spec/cell_choice.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include <gnnbench/error.hpp>

namespace gnnbench {
namespace {

using nlohmann::json;

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

/// Says which keys of a cell's identity expressions may name: those of which a field's name occurs in them.
class Wanted {
public:
    explicit Wanted(std::span<const std::string> expressions) {
        for (const std::string& e : expressions) text_ += lower(e) + '\n';
    }
    /// `kind`: cells of one kind have the same fields under this key.
    bool key(const Cell& cell, const char* name, const std::string& kind) {
        const auto [it, fresh] = known_.try_emplace(name + ('\n' + kind), false);
        if (fresh)
            for (const auto& [field, value] : cell_fields(json{{name, identity_part(cell, name)}}))
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
    Wanted wanted(expressions);
    for (const Cell& cell : cells) {
        json named = json::object();
        for (const char* key : identity_keys) {
            const std::string_view k = key;
            const std::string kind = k == "scheme"        ? cell.scheme.name
                                     : k == "partitioner" ? cell.partitioner.name
                                     : k == "kernel"      ? cell.kernel.name
                                     : k == "dataset"     ? keys_of(cell.dataset.source)
                                                          : "";
            if (wanted.key(cell, key, kind)) named[key] = identity_part(cell, key);
        }
        all.push_back(cell_fields(named));
    }
    return all;
}

}  // namespace

CellChoice::CellChoice(std::span<const Cell> cells, std::span<const std::string> expressions)
    : cells_(cells), filter_(fields_of(cells, expressions)) {}

std::vector<bool> CellChoice::where(const std::string& expression) const {
    try {
        return filter_.where(expression);
    } catch (const SpecError&) {
        // Says it again, knowing all the fields there are.
        std::vector<CellFields> fields;
        for (const Cell& cell : cells_) fields.push_back(cell_fields(to_json(cell, JsonFor::identity)));
        return CellFilter(fields).where(expression);
    }
}

}  // namespace gnnbench
