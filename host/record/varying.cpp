#include "record/varying.hpp"

#include <map>
#include <set>

namespace gnnbench {
namespace {

using nlohmann::json;

std::string value_text(const json& v) { return v.is_string() ? v.get<std::string>() : v.dump(); }

/// "model/widths" → [64,64]: lists are one value, objects are traversed, except those with a label, such as a kernel.
void flatten(const json& j, const std::string& path, std::map<std::string, std::string>& out) {
    if (!j.is_object()) {
        out[path] = value_text(j);
        return;
    }
    if (const auto label = j.find("label"); label != j.end()) out[path] = value_text(*label);
    for (const auto& [key, value] : j.items()) flatten(value, path.empty() ? key : path + "/" + key, out);
}

/// Drops the fields behind a label where labels already distinguish the cells.
void drop_below_labels(std::set<std::string>& paths) {
    std::erase_if(paths, [&](const std::string& path) {
        for (auto end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1))
            if (paths.contains(path.substr(0, end))) return true;
        return false;
    });
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

VaryingFields varying_fields(std::span<const std::string> places, std::span<const json> identities) {
    std::vector<std::map<std::string, std::string>> flat(identities.size());
    std::map<std::string, std::size_t> first;  // of each place
    std::set<std::string> paths;
    for (std::size_t i = 0; i < identities.size(); ++i) {
        flatten(identities[i], "", flat[i]);
        const auto [it, is_first] = first.emplace(places[i], i);
        if (is_first) continue;
        const auto &a = flat[it->second], &b = flat[i];
        for (const auto& [path, value] : a)
            if (const auto other = b.find(path); other == b.end() || other->second != value) paths.insert(path);
        for (const auto& [path, value] : b)
            if (!a.contains(path)) paths.insert(path);
    }
    drop_below_labels(paths);
    VaryingFields result;
    std::map<std::string, int> uses;
    for (const auto& path : paths) ++uses[last_part(path)];
    for (const auto& path : paths) result.names.push_back(uses[last_part(path)] > 1 ? path : last_part(path));
    for (const auto& fields : flat) {
        auto& row = result.values.emplace_back();
        for (const auto& path : paths) {
            const auto it = fields.find(path);
            row.push_back(it == fields.end() ? "" : it->second);
        }
    }
    return result;
}

}  // namespace gnnbench
