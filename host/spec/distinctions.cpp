#include "spec/distinctions.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <type_traits>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "spec/cell_json.hpp"
#include "spec/fields.hpp"

namespace gnnbench {
namespace {

bool same(const FieldRef& a, const FieldRef& b) {
    return std::visit(
        [&](const auto& x) {
            using T = std::decay_t<decltype(x)>;
            const T& y = std::get<T>(b);
            if constexpr (std::is_same_v<T, const PluginChoice*>)
                return x->name == y->name && x->version == y->version && x->params == y->params &&
                       x->command == y->command;
            else if constexpr (std::is_same_v<T, const DatasetChoice*>)
                return x->source == y->source && x->split == y->split;
            else if constexpr (std::is_pointer_v<T>)
                return *x == *y;
            else
                return x == y;
        },
        a);
}

std::string place_of(const Cell& c) {
    return fmt::format("{}\n{}\n{}\n{}", c.dataset.name, c.scheme.label, c.partitioner.label, c.gpus);
}

/// The fields in which cells of one place differ from the first of them.
std::vector<const Field*> differing(std::span<const std::string> places, std::span<const Cell* const> cells) {
    std::map<std::string_view, const Cell*> first;
    std::vector<const Field*> found, left;
    for (const Field* f : identity_fields()) left.push_back(f);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const Cell& other = *first.emplace(places[i], cells[i]).first->second;
        std::erase_if(left, [&](const Field* f) {
            if (same(f->access.of_cell(*cells[i]), f->access.of_cell(other))) return false;
            found.push_back(f);
            return true;
        });
    }
    return found;
}

/// "kernel" is the field of "kernel", "kernel_label" and "kernel.machine".
bool is_of(const std::string& name, std::string_view field) {
    if (!name.starts_with(field)) return false;
    const std::string_view rest = std::string_view(name).substr(field.size());
    return rest.empty() || rest.starts_with('.') || rest == "_label";
}

/// What the cells have of these fields, as expressions name it.
std::vector<CellFields> laid_out(std::span<const Cell* const> cells, const std::vector<const Field*>& fields) {
    std::set<std::string_view> parts;
    for (const Field* f : fields) parts.insert(section_of(f->path));
    std::vector<CellFields> all;
    for (const Cell* cell : cells) {
        nlohmann::json named = nlohmann::json::object();
        for (const std::string_view part : parts) named[std::string(part)] = identity_part(*cell, part);
        all.push_back(cell_fields(named));
        std::erase_if(all.back(), [&](const auto& field) {
            return std::ranges::none_of(fields, [&](const Field* f) { return is_of(field.first, f->path); });
        });
    }
    return all;
}

std::size_t kinds(std::span<const std::string> places, std::span<const CellFields> cells) {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        std::string text = places[i];
        for (const auto& [name, value] : cells[i]) text += '\n' + name + '=' + text_of(value);
        seen.insert(std::move(text));
    }
    return seen.size();
}

}  // namespace

VaryingFields distinctions(std::span<const Cell* const> cells) {
    std::vector<std::string> places;
    for (const Cell* cell : cells) places.push_back(place_of(*cell));
    std::vector<const Field*> fields = differing(places, cells);
    std::vector<CellFields> values = laid_out(cells, fields);
    // Without what follows from the others, the same cells are told apart.
    for (const Field* f : std::vector(fields)) {
        if (!f->access.given) continue;
        std::vector<CellFields> fewer = values;
        for (CellFields& cell : fewer)
            std::erase_if(cell, [&](const auto& field) { return is_of(field.first, f->path); });
        if (kinds(places, fewer) == kinds(places, values)) values = std::move(fewer);
    }
    return varying_fields(places, values);
}

}  // namespace gnnbench
