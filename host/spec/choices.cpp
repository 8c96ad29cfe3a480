// Values that name something outside the file: plugins and datasets, with their declared parameters.
#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/partition.hpp>

#include "core/range_words.hpp"
#include "data/options.hpp"
#include "spec/program_file.hpp"
#include "spec/text_file.hpp"
#include "spec/tree_plugins.hpp"
#include "spec/values.hpp"

namespace gnnbench {

using Kind = YamlNode::Kind;
using Read = std::optional<FieldValue>;

namespace {

std::vector<std::string> names_of(std::span<const ParamDecl> declared) {
    std::vector<std::string> names;
    for (const ParamDecl& d : declared) names.emplace_back(d.name);
    return names;
}

bool typed(ParamType type, Kind kind) {
    switch (type) {
        case ParamType::boolean:
            return kind == Kind::boolean;
        case ParamType::integer:
            return kind == Kind::integer;
        case ParamType::real:
            return kind == Kind::integer || kind == Kind::real;
        case ParamType::choice:
        case ParamType::text:
        case ParamType::path:
        case ParamType::program:
            return kind != Kind::null && kind != Kind::list && kind != Kind::map;
    }
    return false;
}

/// A scalar as Params reads it: YAML's True and 0x10 are true and 16.
std::string plain_text(const YamlNode& node) {
    std::int64_t whole = 0;
    if (to_integer(node, whole)) return std::to_string(whole);
    if (node.is(Kind::boolean)) return is_true(node) ? "true" : "false";
    return node.text.starts_with('+') && node.is(Kind::real) ? node.text.substr(1) : node.text;
}

std::string expectation(const ParamDecl& d) {
    switch (d.type) {
        case ParamType::boolean:
            return "true or false";
        case ParamType::integer:
            return "an integer" + range_words(d);
        case ParamType::real:
            return "a number" + range_words(d);
        case ParamType::choice:
            return fmt::format("one of: {}", d.choices ? d.choices : "");
        case ParamType::text:
            return "one line of text";
        case ParamType::path:
            return "a path";
        case ParamType::program:
            return "a program's path";
    }
    return {};
}

}  // namespace

namespace {

/// The plugin that is meant by a name from elsewhere; empty if there is none.
std::string name_for_synonym(PluginKind kind, std::string word) {
    static constexpr struct {
        PluginKind kind;
        const char *word, *name;
    } names[] = {{PluginKind::kernel, "gpu", "cuda"},       {PluginKind::kernel, "nvidia", "cuda"},
                 {PluginKind::kernel, "cusparse", "cuda"},  {PluginKind::kernel, "host", "cpu"},
                 {PluginKind::kernel, "openmp", "cpu"},     {PluginKind::partitioner, "rows", "block"},
                 {PluginKind::partitioner, "kway", "metis"}};
    for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    for (const auto& entry : names)
        if (entry.kind == kind && word == entry.word) return entry.name;
    return "";
}

/// What is said of a plugin that is not among those that are built: how to build it, or the one that was meant.
std::string no_such_plugin(PluginKind kind, const std::string& word, const std::vector<std::string>& built) {
    const char* const what = yaml_word(kind);
    if (in_own_tree(kind, word))
        return fmt::format("the {} '{}' is not built here; {}; built: {}", what, word, how_to_build(kind, word),
                           fmt::join(built, ", "));
    const std::string none = fmt::format("there is no {} '{}'; ", what, word);
    const std::vector<std::string> several = separated(word);
    const auto is_built = [&](const std::string& name) { return std::ranges::find(built, name) != built.end(); };
    if (several.size() > 1 && std::ranges::all_of(several, is_built))
        return none + write_a_list(yaml_word(kind), several);
    const std::string meant = name_for_synonym(kind, word);
    if (meant.empty()) return none + allowed_words(word, built);
    if (is_built(meant))
        return none + fmt::format("here that is the {} '{}'; allowed: {}", what, meant, fmt::join(built, ", "));
    return none + fmt::format("here that is the {} '{}', which is not built here; {}; built: {}", what, meant,
                              how_to_build(kind, meant), fmt::join(built, ", "));
}

}  // namespace

std::string label_of(std::string_view name, const Params& params, std::span<const ParamDecl> declared) {
    const Params defaults(declared);
    std::vector<std::string> differing;
    for (const auto& [key, value] : params.values()) {
        const auto usual = defaults.values().find(key);
        if (usual == defaults.values().end() || usual->second != value)
            differing.push_back(key + "=" + to_text(value));
    }
    return differing.empty() ? std::string(name) : fmt::format("{}({})", name, fmt::join(differing, ", "));
}

Params ValueReader::params(std::span<const ParamDecl> declared, const YamlNode& map,
                           std::span<const std::string> taken, const std::string& owner,
                           const std::string& key) const {
    Params result(declared);
    for (const YamlEntry& entry : map.entries) {
        if (std::find(taken.begin(), taken.end(), entry.key) != taken.end()) continue;
        const auto d = std::find_if(declared.begin(), declared.end(),
                                    [&](const ParamDecl& p) { return entry.key == p.name; });
        const std::string whole = key + "." + entry.key;
        if (d == declared.end()) {
            auto allowed = names_of(declared);
            allowed.insert(allowed.end(), taken.begin(), taken.end());
            findings_.add(
                entry.place, whole,
                fmt::format("{} has no parameter '{}'; {}", owner, entry.key, allowed_words(entry.key, allowed)));
        } else if (!typed(d->type, entry.value.kind)) {
            const char* hint = entry.value.is(Kind::list) ? "; to try several values, list several mappings" : "";
            findings_.add(
                entry.value.place, whole,
                fmt::format("{} expects {}; found {}{}", owner, expectation(*d), describe(entry.value), hint));
        } else {
            std::string text = is_verbatim(d->type) ? entry.value.text : plain_text(entry.value);
            if (is_path(d->type) && !text.empty()) {
                const auto file = existing(entry.value, whole);
                if (!file) continue;
                text = file->string();
            }
            try {
                result.set(*d, text);
            } catch (const SpecError& e) {
                findings_.add(entry.value.place, whole, fmt::format("{}: {}", owner, e.what()));
            }
        }
    }
    return result;
}

Read ValueReader::plugin(PluginKind kind, const YamlNode& node, const std::string& key) const {
    if (kind == PluginKind::strategy && node.is(Kind::map) && node.find("command")) return program(node, key);
    const YamlNode* name = node.is(Kind::map) ? node.find("name") : &node;
    if (!name || !name->is(Kind::text)) {
        findings_.add(name ? name->place : node.place, key,
                      fmt::format("expected a {}'s name, or {{name: …}} with its parameters; found {}",
                                  yaml_word(kind), name ? describe(*name) : "a mapping without 'name'"));
        return {};
    }
    const auto facts = plugins_.find(kind, name->text);
    if (!facts) {
        findings_.add(name->place, key, no_such_plugin(kind, name->text, plugins_.names(kind)));
        return {};
    }
    static const std::string taken[] = {"name"};
    const std::string owner = fmt::format("{} '{}'", yaml_word(kind), name->text);
    PluginChoice choice{name->text, facts->version, params(facts->params, node, taken, owner, key), {}};
    if (kind == PluginKind::partitioner)
        if (const std::string read = plugins_.partitioner(choice.name).outside_input(choice.params); !read.empty())
            choice.version += "+" + read;  // another file is another cell
    if (facts->simulates) resolve_machine(choice, facts->params, node, key);
    choice.label = label_of(choice.name, choice.params, facts->params);
    return Read(std::move(choice));
}

/// The machine that a kernel simulates, and as which program: checked here, and part of the version, so that another file is
/// another cell. Files' paths become absolute.
void ValueReader::resolve_machine(PluginChoice& kernel, std::span<const ParamDecl> declared, const YamlNode& node,
                                  const std::string& key) const {
    const YamlNode* machine = node.is(Kind::map) ? node.find("machine") : nullptr;
    if (!machine) return;  // the kernel says that it needs one
    SimulatedChoice choice(kernel.params.text("machine"));
    for (std::string* named : {&choice.machine, &choice.program}) {
        if (!names_yaml_file(*named)) continue;
        YamlNode file = *machine;
        file.text = *named;
        const auto found = path(file, key + ".machine");
        if (!found) return;
        *named = found->string();
    }
    for (const ParamDecl& d : declared)
        if (std::string_view(d.name) == "machine") kernel.params.set(d, choice.text());
    try {
        kernel.version += "+" + choice.digest();
    } catch (const SpecError& e) {
        findings_.add(machine->place, key + ".machine", e.what());
    }
}

namespace {

/// The form of that name; else reports and returns nullptr.
const DatasetForm* named(const std::vector<DatasetForm>& forms, const YamlNode& node, const std::string& key,
                         const char* what, Findings& findings) {
    std::vector<std::string> names;
    for (const DatasetForm& f : forms) {
        if (node.is(Kind::text) && f.name == node.text) return &f;
        names.push_back(f.name);
    }
    findings.add(
        node.place, key,
        fmt::format("expected a {}; found {}; {}", what, describe(node), allowed_words(node.text, names)));
    return nullptr;
}

}  // namespace

Read ValueReader::dataset(const YamlNode& node, const std::string& key) const {
    const YamlNode *store = node.find("store"), *file = node.find("path"), *generator = node.find("generate"),
                   *expected = node.find("expect");
    const int forms = (store != nullptr) + (file != nullptr) + (generator != nullptr) + (expected != nullptr);
    if (!node.is(Kind::text) && forms != 1) {
        const std::string found = node.is(Kind::map)
                                      ? "a mapping with none or several of store, path, generate and expect"
                                      : describe(node);
        findings_.add(node.place, key,
                      fmt::format("expected {}; found {}", expectation(*find_field("dataset")), found));
        return {};
    }
    DatasetChoice choice;
    nlohmann::json source = node.is(Kind::text) || store ? stored(node, key)
                            : file                       ? imported(node, key)
                            : expected                   ? of_profile(node, key)
                                                         : generated(node, key);
    if (const YamlNode* split = node.find("split")) {
        std::int64_t number = 0;
        if (!to_integer(*split, number) || number < 0 || number > 1'000'000) {
            findings_.add(split->place, key + ".split",
                          fmt::format("expected an integer from 0 to 1000000; found {}", describe(*split)));
            return {};
        }
        choice.split = static_cast<int>(number);
    }
    if (source.is_null()) return {};
    if (choice.split != 0) source["split"] = choice.split;
    if (const YamlNode* name = node.find("name")) source["name"] = name->text;
    choice.source = std::move(source);
    try {
        datasets_.complete(choice);
    } catch (const Error& e) {  // a store that cannot be read, files that do not belong together
        findings_.add(node.place, key, e.what());
        return {};
    }
    return Read(std::move(choice));
}

nlohmann::json ValueReader::stored(const YamlNode& node, const std::string& key) const {
    static const std::string taken[] = {"store", "split"};
    if (node.is(Kind::map)) params({}, node, taken, "a stored dataset", key);
    const YamlNode& name = node.is(Kind::map) ? *node.find("store") : node;
    const auto known = datasets_.stores();
    if (name.is(Kind::text) && std::find(known.begin(), known.end(), name.text) != known.end())
        return {{"store", name.text}};
    if (name.is(Kind::text) && name.text.find('/') != std::string::npos) {
        const auto folder = path(name, key);
        if (!folder) return {};
        std::error_code ignored;
        if (std::filesystem::exists(*folder / "manifest.json", ignored)) return {{"store", folder->string()}};
    }
    findings_.add(name.place, key,
                  fmt::format("expected a stored dataset's name; found {}; {}; gnnbench dataset import or "
                              "generate makes one; a file is {{path: file}}",
                              describe(name), allowed_words(name.text, known)));
    return {};
}

std::optional<std::filesystem::path> ValueReader::existing(const YamlNode& node, const std::string& key) const {
    auto file = path(node, key);
    if (!file) return {};
    if (!file->has_filename()) file = file->parent_path();  // "folder/" is "folder"
    std::error_code ignored;
    if (std::filesystem::exists(*file, ignored)) return file;
    findings_.add(node.place, key,
                  fmt::format("there is no file or folder {} (given as '{}')", file->string(), node.text));
    return {};
}

nlohmann::json ValueReader::imported(const YamlNode& map, const std::string& key) const {
    const YamlNode &node = *map.find("path"), *format = map.find("format");
    const std::string whole = key + ".path";
    if (!node.is(Kind::text) || node.text.empty()) {
        findings_.add(node.place, whole, fmt::format("expected a path; found {}", describe(node)));
        return {};
    }
    const auto file = existing(node, whole);
    if (!file) return {};
    YamlNode told = format ? *format : node;
    if (!format) {
        told.kind = Kind::text;
        try {
            told.text = datasets_.detect_format(*file);
        } catch (const DataError& e) {
            findings_.add(node.place, whole, e.what());
            return {};
        }
    }
    const auto formats = datasets_.formats();
    const DatasetForm* form = named(formats, told, key + ".format", "file format", findings_);
    if (!form) return {};
    static const std::string taken[] = {"path", "format", "split", "name"};
    auto source = to_json(params(form->params, map, taken, fmt::format("format '{}'", form->name), key));
    source["path"] = file->string();
    source["format"] = form->name;
    return source;
}

nlohmann::json ValueReader::of_profile(const YamlNode& map, const std::string& key) const {
    const YamlNode& profile = *map.find("expect");
    if (!profile.is(Kind::text) || profile.text.empty()) {
        findings_.add(profile.place, key + ".expect",
                      fmt::format("expected a dataset's profile; found {}", describe(profile)));
        return {};
    }
    static const std::string taken[] = {"expect", "split", "name"};
    auto source = to_json(params(datasets_.expectation().params, map, taken, "an expected dataset", key));
    source["expect"] = profile.text;
    return source;
}

nlohmann::json ValueReader::generated(const YamlNode& map, const std::string& key) const {
    const auto generators = datasets_.generators();
    const DatasetForm* form = named(generators, *map.find("generate"), key + ".generate", "generator", findings_);
    if (!form) return {};
    static const std::string taken[] = {"generate", "split", "name"};
    auto source = to_json(params(form->params, map, taken, fmt::format("generator '{}'", form->name), key));
    source["generate"] = form->name;
    return source;
}

}  // namespace gnnbench
