#include "spec/overrides.hpp"

#include <fmt/format.h>

#include "spec/compose.hpp"
#include "spec/fields.hpp"

namespace gnnbench {
namespace {

using Kind = YamlNode::Kind;

/// Whether a single word is short for {name: word}.
bool is_named(std::string_view key) {
    if (const Section* s = find_section(key)) return s->short_for != nullptr;
    const Field* f = find_field(key);
    return f &&
           (f->type == FieldType::strategy || f->type == FieldType::partitioner || f->type == FieldType::kernel);
}

YamlNode empty_map(const std::string& origin) {
    YamlNode map;
    map.kind = Kind::map;
    map.place = {origin};
    return map;
}

class Override {
public:
    Override(const std::string& text, Findings& findings) : origin_("--set " + text), findings_(findings) {
        const std::size_t equals = text.find('=');
        if (equals == std::string::npos || equals == 0) {
            findings_.add({origin_}, "", "expected key=value or section.key=value");
            return;
        }
        path_ = text.substr(0, equals);
        value_ = parse_yaml_value(text.substr(equals + 1), origin_, findings_);
    }

    void apply(YamlNode& experiment) {
        if (path_.empty()) return;
        if (path_ == "matrix" || path_.starts_with("matrix.")) {
            vary(experiment);
            return;
        }
        remove_from_matrix(experiment, path_);
        const std::size_t dot = path_.find('.');
        const std::string first = path_.substr(0, dot);
        if (first == "scaling") make_room_for_scaling(experiment);
        YamlNode* matrix = experiment.find("matrix");
        YamlNode* varied =
            matrix && matrix->is(Kind::map) && dot != std::string::npos ? matrix->find(first) : nullptr;
        const bool in_matrix = varied && !find_section(first) && !experiment.find(first);
        set(in_matrix ? *matrix : experiment, path_);
    }

private:
    /// Sets the matrix, or what is in it.
    void vary(YamlNode& experiment) {
        const bool all = path_ == "matrix";
        const std::string key = all ? "" : path_.substr(7);
        const Section* section = find_section(key);
        if (find_field(key) || (section && section->varies)) {  // others are rules of the matrix
            remove_from_top_level(experiment, key);
            remove_from_matrix(experiment, key);
        }
        YamlNode* matrix = experiment.find("matrix");
        if (!matrix || matrix->is(Kind::null)) {
            experiment.erase("matrix");
            matrix = &experiment.insert("matrix", empty_map(origin_));
        }
        if (all)
            *matrix = value_;
        else
            put(*matrix, key);
    }

    /// The matrix's keys may contain dots: an exact key takes precedence over a path into a mapping.
    void put(YamlNode& map, const std::string& path) {
        if (find_field(path)) {
            map.erase(path);
            map.insert(path, value_);
        } else {
            set(map, path);
        }
    }

    void set(YamlNode& map, const std::string& path) {
        const std::size_t dot = path.find('.');
        const std::string key = path.substr(0, dot);
        if (dot == std::string::npos) {
            map.erase(key);
            map.insert(key, value_);
            return;
        }
        YamlNode* next = map.find(key);
        if (!next || next->is(Kind::null)) {
            map.erase(key);
            next = &map.insert(key, empty_map(origin_));
        }
        if (is_named(key) && next->is(Kind::text)) name_to_map(*next);
        if (next->is(Kind::list) && find_section(key)) {  // of mappings, which are tried one by one
            for (YamlNode& one : next->items) {
                if (one.is(Kind::null)) one = empty_map(origin_);
                set(one, path.substr(dot + 1));
            }
            return;
        }
        if (!next->is(Kind::map)) {
            findings_.add({origin_}, "",
                          fmt::format("expected a mapping at '{}' to set '{}' in; it is {} at {}", key,
                                      path.substr(dot + 1), describe(*next), to_text(next->place)));
            return;
        }
        set(*next, path.substr(dot + 1));
    }

    static void name_to_map(YamlNode& name) {
        YamlNode map = empty_map(name.place.origin);
        map.place = name.place;
        map.insert("name", name);
        name = std::move(map);
    }

    std::string origin_;
    std::string path_;
    YamlNode value_;
    Findings& findings_;
};

}  // namespace

void apply_overrides(YamlNode& experiment, const std::vector<std::string>& overrides, Findings& findings) {
    for (const std::string& text : overrides) Override(text, findings).apply(experiment);
}

}  // namespace gnnbench
