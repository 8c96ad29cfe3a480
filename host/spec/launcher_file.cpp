#include "spec/launcher_file.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launch/pattern.hpp"
#include "launch/placeholders.hpp"
#include "spec/findings.hpp"
#include "spec/launcher_keys.hpp"
#include "spec/text_file.hpp"
#include "spec/yaml.hpp"

namespace gnnbench {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Kind = YamlNode::Kind;
using V = LauncherValue;

struct EmbeddedLauncher {
    const char *name, *text;
};
constexpr EmbeddedLauncher embedded_launchers[] = {
#include "embedded_launchers.inc"
};

constexpr int most_extended = 8;  ///< a launcher that extends itself ends here

bool is_launcher_name(const std::string& name) {
    return !name.empty() && name.front() != '-' && std::ranges::all_of(name, [](unsigned char c) {
        return std::islower(c) || std::isdigit(c) || c == '-' || c == '_';
    });
}

bool is_variable_name(const std::string& name) {
    return !name.empty() && !std::isdigit(static_cast<unsigned char>(name.front())) &&
           std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

std::string last_part(const LauncherKey& key) {
    const std::string path = key.path;
    return path.substr(path.rfind('.') + 1);
}

/// Checks one file, key by key; what is wrong is collected.
class LauncherReader {
public:
    /// `base`: what the file extends; null: nothing.
    LauncherReader(Findings& findings, const YamlNode& root, const Json& base) : findings_(findings) {
        for (const LauncherPlaceholder& p : launcher_placeholders()) placeholders_.emplace_back(p.name);
        const auto add_groups = [&](const std::string& pattern) {
            for (const std::string& group : group_names(pattern)) placeholders_.push_back(group);
        };
        // The groups of questions about nodes.
        const YamlNode* machine = root.is(Kind::map) ? root.find("machine") : nullptr;
        const YamlNode* ask = machine && machine->is(Kind::map) ? machine->find("ask") : nullptr;
        if (ask && ask->is(Kind::list))
            for (const YamlNode& question : ask->items)
                if (const YamlNode* find = question.is(Kind::map) ? question.find("find") : nullptr;
                    find && find->scalar())
                    add_groups(find->text);
        if (base.contains("machine") && base.at("machine").contains("ask"))
            for (const Json& question : base.at("machine").at("ask")) add_groups(question.at("find"));
    }

    Json section(const YamlNode& node, const std::string& path, const std::string& shown) {
        Json made = Json::object();
        if (!node.is(Kind::map)) {
            expected(node, shown, "a mapping");
            return made;
        }
        const std::vector<const LauncherKey*> keys = launcher_keys_in(path);
        std::vector<std::string> allowed;
        for (const LauncherKey* key : keys) allowed.push_back(last_part(*key));
        for (const YamlEntry& e : node.entries) {
            const auto key =
                std::ranges::find_if(keys, [&](const LauncherKey* k) { return last_part(*k) == e.key; });
            const std::string whole = shown.empty() ? e.key : shown + "." + e.key;
            if (key == keys.end())
                findings_.add(e.place, whole, "unknown key; " + allowed_words(e.key, allowed));
            else
                made[e.key] = value(e.value, **key, whole);
        }
        return made;
    }

private:
    void expected(const YamlNode& node, const std::string& shown, const std::string& what) {
        findings_.add(node.place, shown, fmt::format("expected {}; found {}", what, describe(node)));
    }

    Json value(const YamlNode& node, const LauncherKey& key, const std::string& shown) {
        switch (key.value) {
            case V::section:
                return section(node, key.path, shown);
            case V::sections:
                return sections(node, key, shown);
            case V::texts:
                return texts(node, shown, false);
            case V::command:
                return command(node, shown);
            case V::variables:
                return variables(node, shown);
            case V::integer:
                if (std::int64_t n = 0; to_integer(node, n) && n >= 1 && n <= 1'000'000) return n;
                expected(node, shown, "an integer between 1 and 1,000,000");
                return 1;
            case V::number:
                if (double n = 0; to_real(node, n) && n > 0) return n;
                expected(node, shown, "a number above 0");
                return 1;
            case V::boolean:
                if (node.is(Kind::boolean)) return is_true(node);
                expected(node, shown, "true or false");
                return false;
            default:
                return scalar(node, key, shown);
        }
    }

    Json scalar(const YamlNode& node, const LauncherKey& key, const std::string& shown) {
        if (!node.scalar() || node.is(Kind::null) || node.text.empty()) {
            expected(node, shown, key.value == V::pattern ? "a pattern, in quotes" : "a text");
            return "";
        }
        const std::vector<std::string> words(key.words.begin(), key.words.end());
        if (key.value == V::word && std::ranges::find(words, node.text) == words.end())
            findings_.add(node.place, shown,
                          fmt::format("found {}; {}", describe(node), allowed_words(node.text, words)));
        if (key.value == V::variable && !is_variable_name(node.text))
            expected(node, shown, "the name of an environment variable");
        if (key.value == V::name && !is_launcher_name(node.text))
            expected(node, shown, "a launcher's name, of lower-case letters, digits, '-' and '_'");
        if (key.value == V::template_text) known_placeholders(node, shown);
        if (key.value == V::pattern) pattern(node, words, shown);
        return node.text;
    }

    void pattern(const YamlNode& node, const std::vector<std::string>& groups, const std::string& shown) {
        if (const std::string why = why_no_pattern(node.text); !why.empty())
            return findings_.add(node.place, shown, why);
        const std::vector<std::string> found = group_names(node.text);
        for (const std::string& group : groups)
            if (std::ranges::find(found, group) == found.end())
                findings_.add(
                    node.place, shown,
                    fmt::format("expected a pattern with the group (?<{}>…); found the groups: {}", group,
                                found.empty() ? "none" : fmt::format("{}", fmt::join(found, ", "))));
    }

    Json sections(const YamlNode& node, const LauncherKey& key, const std::string& shown) {
        Json made = Json::array();
        if (!node.is(Kind::list) || node.items.empty()) {
            expected(node, shown, "a list of mappings");
            return made;
        }
        const std::string path = std::string(key.path) + "[]";
        for (std::size_t i = 0; i < node.items.size(); ++i) {
            const std::string one = fmt::format("{}[{}]", shown, i);
            made.push_back(section(node.items[i], path, one));
            for (const LauncherKey* inner : launcher_keys_in(path))
                if (inner->required && node.items[i].is(Kind::map) && !node.items[i].find(last_part(*inner)))
                    findings_.add(node.items[i].place, one + "." + last_part(*inner),
                                  "is missing: " + std::string(inner->help));
        }
        return made;
    }

    Json texts(const YamlNode& node, const std::string& shown, bool with_placeholders) {
        Json made = Json::array();
        if (!node.is(Kind::list)) {
            expected(node, shown, "a list of texts");
            return made;
        }
        for (const YamlNode& item : node.items) {
            if (!item.scalar() || item.is(Kind::null)) expected(item, shown, "a text in the list");
            if (with_placeholders) known_placeholders(item, shown);
            made.push_back(item.text);
        }
        return made;
    }

    Json command(const YamlNode& node, const std::string& shown) {
        Json made = Json::array();
        if (!node.is(Kind::list) || node.items.empty()) {
            expected(node, shown, "a command as a list of its words");
            return made;
        }
        for (const YamlNode& item : node.items) {
            if (item.is(Kind::list)) {
                made.push_back(texts(item, shown, true));
                continue;
            }
            if (!item.scalar() || item.is(Kind::null)) expected(item, shown, "a word of a command");
            known_placeholders(item, shown);
            made.push_back(item.text);
        }
        return made;
    }

    Json variables(const YamlNode& node, const std::string& shown) {
        Json made = Json::object();
        if (!node.is(Kind::map)) {
            expected(node, shown, "a mapping of variables");
            return made;
        }
        for (const YamlEntry& e : node.entries) {
            if (!is_variable_name(e.key))
                findings_.add(e.place, shown, fmt::format("expected a variable's name; found '{}'", e.key));
            if (!e.value.scalar()) expected(e.value, shown + "." + e.key, "a text");
            made[e.key] = e.value.text;
        }
        return made;
    }

    void known_placeholders(const YamlNode& node, const std::string& shown) {
        for (const Placeholder& p : placeholders_in(node.text))
            if (!p.name.starts_with("env.") && std::ranges::find(placeholders_, p.name) == placeholders_.end())
                findings_.add(node.place, shown,
                              fmt::format("the placeholder {{{}}} is unknown; {}", p.name,
                                          allowed_words(p.name, placeholders_)));
    }

    Findings& findings_;
    std::vector<std::string> placeholders_;
};

/// `over` on top of `base`: mappings key by key, everything else replaced.
Json merged(Json base, const Json& over) {
    for (const auto& [key, value] : over.items())
        base[key] = value.is_object() && base.contains(key) ? merged(base.at(key), value) : value;
    return base;
}

/// Required keys of the whole, which a file and those that it extends have together.
void find_missing(const Json& content, const std::string& section, const Place& place, Findings& findings) {
    for (const LauncherKey* key : launcher_keys_in(section)) {
        const std::string name = last_part(*key);
        if (key->required && !content.contains(name))
            findings.add(place, key->path, "is missing: " + std::string(key->help));
        if (key->value == V::section && content.contains(name))
            find_missing(content.at(name), key->path, place, findings);
    }
}

bool names_placeholder(const Json& command, const std::string& name) {
    return command.dump().find("{" + name + "}") != std::string::npos;
}

void check_whole(const Json& content, const Place& place, Findings& findings) {
    find_missing(content, "", place, findings);
    findings.raise();
    for (const char* needed : {"worker", "request"})
        if (!names_placeholder(content.at("start").at("run"), needed))
            findings.add(place, "start.run",
                         fmt::format("expected the placeholder {{{}}} in it: without, no rank runs", needed));
    if (content.at("hosts") == "others" && !content.contains("machine"))
        findings.add(place, "machine", "is missing: which nodes ranks run on, where `hosts: others`");
    if (content.at("hosts") == "this" && content.contains("jobs"))
        findings.add(place, "jobs", "expected `hosts: others` of a launcher with jobs; found hosts: this");
    if (content.contains("jobs")) {
        if (!names_placeholder(content.at("jobs").at("submit").at("run"), "script"))
            findings.add(place, "jobs.submit.run",
                         "expected the placeholder {script} in it: without, no job runs");
        if (!names_placeholder(content.at("jobs").at("cancel"), "ids"))
            findings.add(place, "jobs.cancel", "expected the placeholder {ids} in it");
    }
    findings.raise();
}

Json read_one(const std::string& text, const std::string& origin, const std::string& name, int extended);

/// What a file extends: another launcher, or the program's own of the same name. Null: nothing.
Json extended_by(const YamlNode& root, const std::string& origin, const std::string& name, int extended,
                 Findings& findings) {
    const YamlNode* given = root.is(Kind::map) ? root.find("extends") : nullptr;
    if (!given) return nullptr;
    std::optional<LauncherFile> base;
    for (const LauncherFile& f : launcher_files())
        if (f.name == given->text && f.name != name) base = f;
    for (const EmbeddedLauncher& e : embedded_launchers)
        if (!base && given->text == e.name && origin != e.name) base = LauncherFile{e.name, {}, e.text};
    if (!base || extended >= most_extended) {
        findings.add(
            given->place, "extends",
            base ? fmt::format("more than {} launchers extend each other", most_extended)
                 : fmt::format("found {}; {}", describe(*given), allowed_words(given->text, launcher_names())));
        findings.raise();
    }
    return read_one(base->text, base->file.empty() ? base->name : base->file.string(), base->name, extended + 1);
}

Json read_one(const std::string& text, const std::string& origin, const std::string& name, int extended) {
    Findings findings;
    const YamlNode root = parse_yaml(text, origin, findings);
    findings.raise();
    const Json base = extended_by(root, origin, name, extended, findings);
    Json content = LauncherReader(findings, root, base).section(root, "", "");
    findings.raise();
    if (!base.is_null()) content = merged(base, content);
    content["name"] = name;
    check_whole(content, {origin, 1, 1}, findings);
    return content;
}

}  // namespace

std::vector<fs::path> launcher_folders() {
    std::vector<fs::path> folders;
    if (const char* given = std::getenv("GNNBENCH_LAUNCHER_PATH")) {
        std::istringstream in(given);
        for (std::string folder; std::getline(in, folder, ':');) {
            if (folder.empty()) continue;
            if (folder.front() != '/')
                throw SpecError(
                    fmt::format("GNNBENCH_LAUNCHER_PATH: expected folders that begin with '/', since launchers "
                                "run commands; found '{}'",
                                folder));
            folders.emplace_back(folder);
        }
    }
    const char *config = std::getenv("XDG_CONFIG_HOME"), *home = std::getenv("HOME");
    if (config && *config == '/')
        folders.push_back(fs::path(config) / "gnnbench/launchers");
    else if (home && *home == '/')
        folders.push_back(fs::path(home) / ".config/gnnbench/launchers");
    folders.emplace_back("/etc/gnnbench/launchers");
    return folders;
}

std::vector<LauncherFile> launcher_files() {
    std::vector<LauncherFile> all;
    const auto known = [&](const std::string& name) {
        return std::ranges::any_of(all, [&](const LauncherFile& f) { return f.name == name; });
    };
    for (const fs::path& folder : launcher_folders()) {
        std::error_code none;
        std::vector<fs::path> files;
        for (const auto& entry : fs::directory_iterator(folder, none))
            if (entry.path().extension() == ".yaml" && is_launcher_name(entry.path().stem().string()))
                files.push_back(entry.path());
        std::ranges::sort(files);
        for (const fs::path& file : files)
            if (const std::string name = file.stem().string(); !known(name))
                all.push_back({name, file, read_text_file(file, "expected a launcher file at")});
    }
    for (const EmbeddedLauncher& e : embedded_launchers)
        if (!known(e.name)) all.push_back({e.name, {}, e.text});
    std::ranges::sort(all, {}, &LauncherFile::name);
    return all;
}

std::vector<std::string> launcher_names() {
    std::vector<std::string> names;
    for (const LauncherFile& f : launcher_files()) names.push_back(f.name);
    return names;
}

Json load_launcher(const std::string& name) {
    for (const LauncherFile& f : launcher_files())
        if (f.name == name) return read_launcher(f.text, f.file.empty() ? f.name : f.file.string(), name);
    throw SpecError(fmt::format("there is no launcher '{}'; {}", name, allowed_words(name, launcher_names())));
}

Json read_launcher(const std::string& text, const std::string& origin, const std::string& name) {
    return read_one(text, origin, name, 0);
}

}  // namespace gnnbench
