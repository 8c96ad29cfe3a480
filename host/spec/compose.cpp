#include "spec/compose.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "spec/fields.hpp"
#include "spec/outline_keys.hpp"
#include "spec/text_file.hpp"

namespace gnnbench {
namespace {

using Kind = YamlNode::Kind;
namespace fs = std::filesystem;

/// Removes a key from a section: from a mapping, or from each of those that a list tries.
void remove_from_section(YamlNode& section, const std::string& key) {
    section.erase(key);
    for (YamlNode& one : section.items) one.erase(key);
}

bool sets_nothing(const YamlNode& node) {
    if (node.is(Kind::list)) return std::ranges::all_of(node.items, sets_nothing);
    return node.is(Kind::map) && node.entries.empty();
}

/// The key, what is below it, and what sections that vary whole say of it.
void remove_from_lists(YamlNode& lists, const std::string& path) {
    if (!lists.is(Kind::map)) return;
    const bool whole = path.find('.') == std::string::npos;
    std::erase_if(lists.entries,
                  [&](const YamlEntry& e) { return e.key == path || (whole && e.key.starts_with(path + ".")); });
    const std::string section(section_of(path));
    YamlNode* varied = find_section(section) ? lists.find(section) : nullptr;
    if (!varied) return;
    remove_from_section(*varied, std::string(last_word(path)));
    if (sets_nothing(*varied)) lists.erase(section);
}

void put(YamlNode& map, const YamlEntry& e) {
    map.erase(e.key);
    map.entries.push_back(e);
}

}  // namespace

void remove_from_top_level(YamlNode& experiment, const std::string& path) {
    experiment.erase(path);
    const std::size_t dot = path.find('.');
    if (dot == std::string::npos) return;
    if (YamlNode* section = experiment.find(path.substr(0, dot)))
        remove_from_section(*section, path.substr(dot + 1));
}

namespace {

void overlay_matrix(YamlNode& base, const YamlNode& over) {
    for (const YamlEntry& e : over.entries) {
        if (const bool rule = e.key == "zip" || e.key == "include" || e.key == "exclude"; !rule) {
            remove_from_top_level(base, e.key);
            remove_from_matrix(base, e.key);
        } else if (e.key == "zip" && e.value.is(Kind::map)) {
            for (const YamlEntry& zipped : e.value.entries) {
                remove_from_top_level(base, zipped.key);
                remove_from_matrix(base, zipped.key);
            }
        }
        if (!base.find("matrix")) base.insert("matrix", over).entries.clear();
        put(*base.find("matrix"), e);
    }
}

/// Limits on all the files that an experiment imports, taken together.
constexpr std::size_t most_files = 200, most_imported_bytes = std::size_t{16} << 20;

/// Gathers imports, depth first; each file is read once.
class Importer {
public:
    Importer(Composition& result, Findings& findings) : result_(result), findings_(findings) {}

    /// What `root`, read from `file`, comes to with all its imports.
    YamlNode resolve(YamlNode root, const fs::path& file) {
        const YamlNode* imports = root.find("imports");
        if (!imports) return root;
        YamlNode base = root;
        base.entries.clear();
        open_.push_back(fs::absolute(file).lexically_normal());
        std::vector<YamlNode> names = imports->is(Kind::list) ? imports->items : std::vector{*imports};
        for (const YamlNode& name : names) {
            if (!name.is(Kind::text)) {
                findings_.add(name.place, "imports",
                              fmt::format("expected a file's path, or a list of them; found {}", describe(name)));
                continue;
            }
            YamlNode imported = read(name, open_.back().parent_path() / name.text);
            imported.erase("name");  // are of that file, not of what imports it
            imported.erase("description");
            overlay(base, imported);
        }
        open_.pop_back();
        root.erase("imports");
        overlay(base, root);
        return base;
    }

private:
    YamlNode read(const YamlNode& name, const fs::path& path) {
        YamlNode nothing;
        nothing.kind = Kind::map;
        const fs::path file = path.lexically_normal();
        if (std::find(open_.begin(), open_.end(), file) != open_.end()) {
            findings_.add(name.place, "imports", fmt::format("'{}' imports itself", name.text));
            return nothing;
        }
        if (const auto known = read_.find(file); known != read_.end()) return known->second;
        if (read_.size() + open_.size() > most_files || bytes_ > most_imported_bytes) {
            if (!too_much_)
                findings_.add(name.place, "imports",
                              fmt::format("an experiment imports at most {} files of {} MiB together", most_files,
                                          most_imported_bytes >> 20));
            too_much_ = true;
            return nothing;
        }
        std::string text;
        try {
            text = read_text_file(file, "expected a file at");
        } catch (const SpecError& e) {
            findings_.add(name.place, "imports", e.what());
            return nothing;
        }
        bytes_ += text.size();
        Findings its_own;  // which are told only of a file that is meant to be imported
        YamlNode root = parse_yaml(text, file.string(), its_own);
        if (!is_of_an_experiment(root) && !(root.is(Kind::null) && !its_own.empty())) {
            findings_.add(
                name.place, "imports",
                fmt::format("expected a mapping, with keys of an experiment, in '{}'; found {}", name.text,
                            root.is(Kind::map) ? "one without any of them" : describe_kind(root)));
            return nothing;
        }
        if (!its_own.empty()) parse_yaml(text, file.string(), findings_);
        if (!root.is(Kind::map)) return nothing;
        result_.imported.push_back(fmt::format("# imported from {}\n{}", name.text, text));
        return read_.emplace(file, resolve(std::move(root), file)).first->second;
    }

    Composition& result_;
    Findings& findings_;
    std::map<fs::path, YamlNode> read_;  ///< with what each imports
    std::size_t bytes_ = 0;
    bool too_much_ = false;
    std::vector<fs::path> open_;  ///< files whose imports are being read
};

bool is_profile_name(const std::string& name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return std::isalnum(c) || c == '-' || c == '_' || c == '.';
    });
}

std::vector<std::string> names_of(const YamlNode& map) {
    std::vector<std::string> names;
    for (const YamlEntry& e : map.entries) names.push_back(e.key);
    return names;
}

/// Checks all profiles, whether or not one is chosen.
void check(const YamlNode& profiles, Findings& findings) {
    if (!profiles.is(Kind::map)) {
        findings.add(profiles.place, "profiles",
                     fmt::format("expected a mapping of names to parts of an experiment; "
                                 "found {}",
                                 describe(profiles)));
        return;
    }
    for (const YamlEntry& e : profiles.entries) {
        const std::string key = "profiles." + e.key;
        if (!is_profile_name(e.key))
            findings.add(e.place, key, "expected a name of letters, digits, '-', '_' and '.'");
        if (!e.value.is(Kind::map)) {
            findings.add(e.value.place, key,
                         fmt::format("expected a mapping, part of an experiment; found {}", describe(e.value)));
            continue;
        }
        for (const YamlEntry& inner : e.value.entries)
            if (inner.key == "imports" || inner.key == "profiles" || inner.key == "profile")
                findings.add(inner.place, key + "." + inner.key,
                             "cannot stand inside a profile; write it outside");
    }
}

void choose(Composition& c, const std::string& wanted, const std::string& file, Findings& findings) {
    YamlNode none;
    none.kind = Kind::map;
    const YamlNode* given = c.root.find("profiles");
    const YamlNode profiles = given ? *given : none;
    const YamlNode* named = c.root.find("profile");
    const YamlNode by_default = named ? *named : YamlNode();
    c.root.erase("profiles");
    c.root.erase("profile");
    check(profiles, findings);
    const std::string& name = wanted.empty() ? by_default.text : wanted;
    if (!named && wanted.empty()) return;
    const YamlNode* chosen = profiles.find(name);
    if (!chosen) {
        const std::string allowed = allowed_words(name, names_of(profiles));
        if (!wanted.empty())
            throw SpecError(fmt::format("--profile {}: {} has no such profile; {}", wanted, file, allowed));
        findings.add(by_default.place, "profile",
                     fmt::format("expected one of the profiles; found {}; {}", describe(by_default), allowed));
        return;
    }
    c.profile = name;
    c.profile_names = chosen->find("name") != nullptr;
    if (chosen->is(Kind::map)) overlay(c.root, *chosen);
}

}  // namespace

void remove_from_matrix(YamlNode& experiment, const std::string& path) {
    if (path == "gpus") experiment.erase("scaling");  // whose axis they are
    YamlNode* matrix = experiment.find("matrix");
    if (!matrix || !matrix->is(Kind::map)) return;
    remove_from_lists(*matrix, path);
    YamlNode* zip = matrix->find("zip");
    if (!zip) return;
    remove_from_lists(*zip, path);
    for (YamlNode& one : zip->items) remove_from_lists(one, path);
    std::erase_if(zip->items, [](const YamlNode& one) { return one.is(Kind::map) && one.entries.empty(); });
    if ((zip->is(Kind::map) && zip->entries.empty()) || (zip->is(Kind::list) && zip->items.empty()))
        matrix->erase("zip");
}

/// `launcher: srun` as {name: srun}, so that it merges with {partition: gpu}.
YamlEntry spelled_out(const YamlEntry& e) {
    const Section* section = find_section(e.key);
    if (!section || !section->short_for || !e.value.is(Kind::text)) return e;
    YamlEntry whole = e;
    whole.value.kind = Kind::map;
    whole.value.text.clear();
    whole.value.insert(section->short_for, e.value);
    return whole;
}

void make_room_for_scaling(YamlNode& experiment) {
    remove_from_top_level(experiment, "gpus");
    remove_from_matrix(experiment, "gpus");
}

void overlay(YamlNode& base, const YamlNode& over) {
    for (YamlEntry& e : base.entries) e = spelled_out(e);
    for (const YamlEntry& given : over.entries) {
        const YamlEntry e = spelled_out(given);
        if (e.key == "matrix" && e.value.is(Kind::map)) continue;  // last: what varies wins
        const YamlNode* below = base.find(e.key);
        if (e.key == "profiles" && e.value.is(Kind::map) && below && below->is(Kind::map)) {
            for (const YamlEntry& profile : e.value.entries) put(*base.find(e.key), profile);
            continue;
        }
        if (!find_section(e.key) || !e.value.is(Kind::map)) {
            if (e.key == "scaling") make_room_for_scaling(base);
            remove_from_matrix(base, e.key);
            put(base, e);
            continue;
        }
        YamlNode section = below && below->is(Kind::map) ? *below : e.value;
        if (YamlNode* varied = base.find("matrix"); varied && varied->is(Kind::map)) varied->erase(e.key);
        for (const YamlEntry& inner : e.value.entries) {
            remove_from_matrix(base, e.key + "." + inner.key);
            put(section, inner);
        }
        base.erase(e.key);
        base.entries.push_back({e.key, e.place, std::move(section)});
    }
    if (const YamlNode* matrix = over.find("matrix"); matrix && matrix->is(Kind::map))
        overlay_matrix(base, *matrix);
}

YamlNode with_imports(YamlNode root, const fs::path& file, Findings& findings) {
    Composition unused;
    return Importer(unused, findings).resolve(std::move(root), file);
}

Composition compose(YamlNode root, const fs::path& file, const std::string& profile, Findings& findings) {
    Composition result;
    result.root = Importer(result, findings).resolve(std::move(root), file);
    choose(result, profile, file.string(), findings);
    return result;
}

}  // namespace gnnbench
