#include "record/varying.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace gnnbench {
namespace {

/// "kernel" of "kernel_label" and "kernel.format"; "gpus" of "gpus".
std::string owner_of(const std::string& field) {
    if (field.ends_with("_label")) return field.substr(0, field.size() - 6);
    return field.substr(0, field.find('.'));
}

std::string last_part(const std::string& field) { return field.substr(field.rfind('.') + 1); }

/// What only repeats another field.
bool is_derived(const std::string& field) { return field == "model.depth"; }

}  // namespace

VaryingFields varying_fields(std::span<const std::string> places, std::span<const CellFields> cells) {
    std::map<std::string, std::size_t> first;  // of each place
    std::set<std::string> fields;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const CellFields &a = cells[first.emplace(places[i], i).first->second], &b = cells[i];
        for (const CellFields* side : {&a, &b})
            for (const auto& [field, value] : *side)
                if (!is_derived(field) && field_text(a, field) != field_text(b, field)) fields.insert(field);
    }
    std::erase_if(fields, [&](const std::string& field) {
        return !field.ends_with("_label") && fields.contains(owner_of(field) + "_label");
    });
    VaryingFields result;
    std::map<std::string, int> uses;
    const auto name_of = [](const std::string& field) {
        return field.ends_with("_label") ? owner_of(field) : last_part(field);
    };
    for (const std::string& field : fields) ++uses[name_of(field)];
    for (const std::string& field : fields)
        result.names.push_back(uses[name_of(field)] > 1 ? field : name_of(field));
    for (const CellFields& cell : cells) {
        auto& row = result.values.emplace_back();
        for (const std::string& field : fields) row.push_back(field_text(cell, field));
    }
    return result;
}

std::string named_values(const std::vector<std::string>& names, const std::vector<std::string>& values) {
    std::string text;
    for (std::size_t i = 0; i < names.size() && i < values.size(); ++i)
        if (!values[i].empty()) text += (text.empty() ? "" : ", ") + names[i] + " " + values[i];
    return text;
}

}  // namespace gnnbench
