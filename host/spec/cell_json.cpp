// A cell as JSON, from the declarations of its fields.
#include <algorithm>
#include <map>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include "data/options.hpp"
#include "spec/cell_json.hpp"
#include "spec/words.hpp"

namespace gnnbench {

using nlohmann::json;

namespace {

json to_json(const PluginChoice& p, JsonFor use) {
    json j{{"name", p.name}, {"version", p.version}, {"params", to_json(p.params)}, {"label", p.label}};
    if (p.is_program()) j["command"] = p.command;
    if (p.is_program() && use == JsonFor::worker) j["program"] = p.program;
    if (!p.approximation.empty()) j["approximation"] = p.approximation;
    return j;
}

json to_json(const DatasetChoice& d, JsonFor use) {
    json j{{"source", *d.source}, {"split", d.split}, {"name", d.name}, {"digest", d.digest}};
    if (use == JsonFor::worker) j["store"] = d.store;
    return j;
}

json to_json(const Slowdown& s, JsonFor) {
    json j{{"factors", s.factor}, {"jitter", s.jitter}, {"label", slowdown_text(s)}};
    if (s.spread > 0) j["spread"] = s.spread;
    if (s.lasts_s > 0) j["lasts"] = s.lasts_s;
    return j;
}

json value_json(const FieldRef& value, JsonFor use) {
    return std::visit(
        [use](const auto& v) -> json {
            using From = std::decay_t<decltype(v)>;
            if constexpr (!std::is_pointer_v<From>)
                return v;
            else if constexpr (std::is_same_v<From, const std::vector<std::int64_t>*> ||
                               std::is_same_v<From, const std::vector<double>*>)
                return *v;
            else
                return to_json(*v, use);
        },
        value);
}

/// An object that must be read key by key: nothing missing, nothing of another type, nothing left.
class Object {
public:
    Object(const json& j, std::string name) : j_(j), name_(std::move(name)) {
        if (!j.is_object())
            throw SpecError(fmt::format("cell: expected an object as {}; found {}", name_, j.dump()));
    }
    const json& at(const char* key) {
        const auto found = j_.find(key);
        if (found == j_.end())
            throw SpecError(
                fmt::format("cell: {} has no '{}'; it was written by another version "
                            "of this program",
                            name_, key));
        ++read_;
        return *found;
    }
    bool has(const char* key) const { return j_.contains(key); }
    const std::string& name() const { return name_; }
    template <class T>
    void into(const char* key, T& out) {
        const json& value = at(key);
        try {
            value.get_to(out);
        } catch (const json::exception&) {
            throw SpecError(fmt::format("cell: {}.{} has an unexpected type: {}", name_, key, value.dump()));
        }
    }
    void done() const {
        if (j_.size() != read_)
            throw SpecError(fmt::format("cell: {} has keys this version does not know: {}", name_, j_.dump()));
    }

private:
    const json& j_;
    std::string name_;
    std::size_t read_ = 0;
};

/// Parameters carry their types in JSON: no declaration is needed to read them.
Params params_from(const json& j, const std::string& owner) {
    if (!j.is_object())
        throw SpecError(fmt::format("cell: expected an object as {}.params; found {}", owner, j.dump()));
    Params params;
    for (const auto& [key, value] : j.items()) {
        ParamDecl d{key.c_str(), ParamType::text, "", -1e300, 1e300, nullptr, ""};
        std::string text = value.is_string() ? value.get<std::string>() : value.dump();
        if (value.is_boolean())
            d.type = ParamType::boolean;
        else if (value.is_number_integer())
            d.type = ParamType::integer;
        else if (value.is_number_float())
            d.type = ParamType::real;
        else if (!value.is_string())
            throw SpecError(fmt::format("cell: {}.params.{} has an unexpected type: {}", owner, key, text));
        params.set(d, text);
    }
    return params;
}

PluginChoice plugin_from(const json& j, const char* name) {
    Object o(j, name);
    PluginChoice p;
    o.into("name", p.name);
    o.into("version", p.version);
    p.params = params_from(o.at("params"), name);
    o.into("label", p.label);
    if (o.has("command")) {
        o.into("command", p.command);
        o.into("program", p.program);
    }
    if (o.has("approximation")) o.into("approximation", p.approximation);
    o.done();
    return p;
}

void read_slowdown(const json& j, Slowdown& s) {
    Object o(j, "slowdown");
    o.into("factors", s.factor);
    o.into("jitter", s.jitter);
    if (o.has("spread")) o.into("spread", s.spread);
    if (o.has("lasts")) o.into("lasts", s.lasts_s);
    o.at("label");
    o.done();
}

DatasetChoice dataset_from(const json& j) {
    Object o(j, "dataset");
    DatasetChoice d;
    d.source = json(o.at("source"));
    o.into("split", d.split);
    o.into("name", d.name);
    o.into("digest", d.digest);
    o.into("store", d.store);
    o.done();
    return d;
}

template <class T>
T read(Object& o, const char* key) {
    T value;
    o.into(key, value);
    return value;
}

FieldValue read_value(Object& o, const Field& f) {
    const std::string name(f.key());
    const char* key = name.c_str();
    switch (f.type) {
        case FieldType::boolean:
            return read<bool>(o, key);
        case FieldType::integer:
            return read<std::int64_t>(o, key);
        case FieldType::real:
            return read<double>(o, key);
        case FieldType::text:
        case FieldType::folder:
            return read<std::string>(o, key);
        case FieldType::word: {
            std::string word = read<std::string>(o, key);
            if (std::ranges::find(f.words, std::string_view(word)) == f.words.end())
                throw SpecError(
                    fmt::format("cell: {}.{} is '{}', which is none of its words", o.name(), key, word));
            return word;
        }
        case FieldType::texts:
            return read<std::vector<std::string>>(o, key);
        case FieldType::widths:
        case FieldType::count_per_layer:
            return read<std::vector<std::int64_t>>(o, key);
        case FieldType::per_layer:
            return read<std::vector<double>>(o, key);
        case FieldType::slowdown: {
            Slowdown slowdown;
            read_slowdown(o.at(key), slowdown);
            return slowdown;
        }
        case FieldType::dataset:
            return dataset_from(o.at(key));
        case FieldType::strategy:
        case FieldType::partitioner:
        case FieldType::kernel:
            return plugin_from(o.at(key), key);
    }
    throw LogicError("a field of a type that no cell has");
}

/// "model" of "model.bias"; empty of "gpus".
std::string_view group_of(const Field& f) {
    const std::string_view path = f.path;
    return path.find('.') == path.npos ? std::string_view() : section_of(path);
}

}  // namespace

std::span<const Field* const> identity_fields() {
    static const std::vector<const Field*> sorted = [] {
        std::vector<const Field*> all;
        for (const Field& f : fields())
            if (f.access.of_cell) all.push_back(&f);
        const auto place = [](const Field* f) {
            return std::pair(group_of(*f).empty() ? f->key() : group_of(*f), f->key());
        };
        std::ranges::sort(all, {}, place);
        return all;
    }();
    return sorted;
}

std::span<const std::string_view> identity_keys() {
    static const std::vector<std::string_view> keys = [] {
        std::vector<std::string_view> all;
        for (const Field* f : identity_fields())
            if (const std::string_view key = group_of(*f).empty() ? f->key() : group_of(*f);
                all.empty() || all.back() != key)
                all.push_back(key);
        return all;
    }();
    return keys;
}

bool is_left_out(const Field& f, const Cell& c) {
    if (!f.is_later) return false;
    static const Cell standard;
    return value_json(f.access.of_cell(c), JsonFor::identity) ==
           value_json(f.access.of_cell(standard), JsonFor::identity);
}

json identity_part(const Cell& c, std::string_view key) {
    json part;
    for (const Field* f : identity_fields()) {
        if (group_of(*f).empty() && f->key() == key) return value_json(f->access.of_cell(c), JsonFor::identity);
        if (group_of(*f) == key && !is_left_out(*f, c))
            part[std::string(f->key())] = value_json(f->access.of_cell(c), JsonFor::identity);
    }
    if (part.is_null()) throw LogicError(fmt::format("a cell has no part '{}'", key));
    return part;
}

json to_json(const Cell& c, JsonFor use) {
    json j = json::object();
    for (const Field* f : identity_fields()) {
        if (is_left_out(*f, c)) continue;
        json& into = group_of(*f).empty() ? j : j[std::string(group_of(*f))];
        into[std::string(f->key())] = value_json(f->access.of_cell(c), use);
    }
    return j;
}

Cell as_verified(const Cell& cell) {
    static const Cell standard;
    Draft draft;
    draft.cell = cell;
    for (const Field* f : identity_fields())
        if (f->access.part_of == PartOf::identity) f->assign(draft, copied(f->access.of_cell(standard)));
    return draft.cell;
}

Cell cell_from_json(const json& j) {
    Draft draft;
    Object whole(j, "the cell");
    std::map<std::string_view, Object> groups;
    for (const Field* f : identity_fields()) {
        const std::string_view group = group_of(*f);
        if (!group.empty() && !groups.contains(group))
            groups.emplace(group, Object(whole.at(std::string(group).c_str()), std::string(group)));
        Object& o = group.empty() ? whole : groups.at(group);
        if (!f->is_later || o.has(std::string(f->key()).c_str())) f->assign(draft, read_value(o, *f));
    }
    for (auto& [name, o] : groups) o.done();
    whole.done();
    return draft.cell;
}

}  // namespace gnnbench
