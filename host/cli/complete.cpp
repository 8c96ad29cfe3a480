#include "cli/complete.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>

#include <gnnbench/error.hpp>

#include "cli/project.hpp"
#include "cli/ranges.hpp"
#include "cli/usage.hpp"
#include "data/catalog.hpp"
#include "data/profile.hpp"
#include "plugin/loader.hpp"
#include "record/origin.hpp"
#include "record/query.hpp"
#include "record/schema.hpp"
#include "run/definitions.hpp"
#include "run/judged_claims.hpp"
#include "spec/fields.hpp"
#include "spec/machine_file.hpp"
#include "spec/table_definition.hpp"
#include "spec/launcher_file.hpp"

namespace gnnbench {
namespace {

using Candidates = std::vector<std::string>;
constexpr const char* file_names = ":files";

void append(Candidates& all, const Candidates& more) { all.insert(all.end(), more.begin(), more.end()); }

/// What an option was given on the line so far; else an environment variable's value, else `otherwise`.
std::string given(const Candidates& words, const std::string& option, const char* variable,
                  const std::string& otherwise) {
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        if (words[i] == option) return words[i + 1];
        if (words[i].starts_with(option + "=")) return words[i].substr(option.size() + 1);
    }
    const char* set = std::getenv(variable);
    return set && *set ? set : otherwise;
}

/// The names that a word can be completed to; each kind is looked up only where it is wanted.
class Names {
public:
    explicit Names(const Candidates& words)
        : database_(given(words, "--database", "GNNBENCH_DATABASE", (root_ / database_name).string())),
          data_dir_(given(words, "--data-dir", "GNNBENCH_DATA", (root_ / datasets_name).string())) {}

    Candidates experiments() const { return recorded_experiments(database_); }
    Candidates tags() const { return column("SELECT DISTINCT name FROM tag ORDER BY name"); }
    Candidates trials() const {
        return column("SELECT substr(uuid, 1, 8) FROM trial WHERE purpose = 'measure' ORDER BY id DESC LIMIT 200");
    }
    Candidates sides() const {
        Candidates all = tags();
        append(all, experiments());
        return all;
    }
    Candidates datasets() const {
        Candidates all;
        for (const CatalogEntry& entry : Catalog::at(data_dir_).list()) all.push_back(entry.folder);
        return all;
    }
    static Candidates plugins(PluginKind kind) { return PluginCatalog().names(kind); }
    static Candidates all_plugins() {
        Candidates all;
        for (const PluginKind kind :
             {PluginKind::strategy, PluginKind::partitioner, PluginKind::kernel, PluginKind::importer})
            append(all, plugins(kind));
        return all;
    }
    Candidates definitions_and_experiments() const {
        Candidates all = definition_names();
        append(all, experiments());
        all.emplace_back(file_names);
        return all;
    }
    static Candidates views() {
        Candidates all;
        for (const SqlRow& row : schema().rows) all.push_back(std::get<std::string>(row.at(0)));
        return all;
    }

private:
    Candidates column(const std::string& sql) const {
        Candidates all;
        if (!std::filesystem::exists(database_)) return all;
        for (const SqlRow& row : query(database_, sql).rows)
            if (const auto* text = std::get_if<std::string>(&row.at(0))) all.push_back(*text);
        return all;
    }

    std::filesystem::path root_ = project_root();  // before those that it is part of
    std::filesystem::path database_;
    std::string data_dir_;
};

Candidates keys_to_set() {
    Candidates all;
    for (const Field& field : fields()) all.push_back(std::string(field.path) + "=");
    return all;
}

Candidates named_query_names() {
    Candidates all;
    for (const NamedQuery& q : named_queries()) all.push_back(q.name);
    return all;
}

using Look = std::function<Candidates(const Names&)>;

/// What may stand for a value, by the type that its option or argument declares.
const std::map<std::string, Look>& looks() {
    const Look of_files = [](const Names&) { return Candidates{file_names}; };
    const Look of_schemes = [](const Names&) { return Names::plugins(PluginKind::strategy); };
    const Look of_partitioners = [](const Names&) { return Names::plugins(PluginKind::partitioner); };
    static const std::map<std::string, Look> by_type{
        {"FILE", of_files},
        {"FILE.yaml", of_files},
        {"FOLDER", of_files},
        {"PATH", of_files},
        {"EXPERIMENT", of_files},
        {"WHAT", [](const Names& n) { return n.definitions_and_experiments(); }},
        {"MEASURED", [](const Names& n) { return n.experiments(); }},
        {"SIDE", [](const Names& n) { return n.sides(); }},
        {"TRACED",
         [](const Names& n) {
             Candidates all = n.experiments();
             append(all, n.trials());
             return all;
         }},
        {"TRIAL", [](const Names& n) { return n.trials(); }},
        {"TAG", [](const Names& n) { return n.tags(); }},
        {"DATASET", [](const Names& n) { return n.datasets(); }},
        {"GRAPH", [](const Names&) { return profile_names(); }},
        {"MACHINE", [](const Names&) { return machine_names(); }},
        {"PLUGIN", [](const Names&) { return Names::all_plugins(); }},
        {"SCHEME", of_schemes},
        {"SCHEME,...", of_schemes},
        {"PARTITIONER,...", of_partitioners},
        {"TABLE", [](const Names&) { return definition_names(); }},
        {"PAPER", [](const Names&) { return claimed_papers(); }},
        {"VIEW", [](const Names&) { return Names::views(); }},
        {"SQL", [](const Names&) { return Names::views(); }},
        {"QUERY", [](const Names&) { return named_query_names(); }},
        {"LAUNCHER", [](const Names&) { return launcher_names(); }},
        {"PROFILE", [](const Names&) { return Candidates{"small", "paper", simulated_profile}; }},
        {"FORMAT", [](const Names&) { return Candidates{"text", "markdown", "latex", "html", "csv", "json"}; }},
        {"KEY=VALUE", [](const Names&) { return keys_to_set(); }},
    };
    return by_type;
}

/// The type that an option declares, without what its checks add.
std::string type_of(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    return type.substr(0, type.find(':'));
}

Candidates values_of(const CLI::Option& option, const Names& names) {
    if (Candidates words = words_of(option); !words.empty()) return words;
    const auto look = looks().find(type_of(option));
    return look == looks().end() ? Candidates() : look->second(names);
}

/// Candidates for any of the command's arguments: completing the second also offers the words of the first.
Candidates arguments_of(const CLI::App& command, const Names& names) {
    Candidates all;
    for (const CLI::Option* option : command.get_options())
        if (option->get_positional()) append(all, values_of(*option, names));
    return all;
}

Candidates option_words(const CLI::App& command) {
    Candidates all;
    for (const CLI::App* app = &command; app; app = app->get_parent())
        for (const CLI::Option* option : app->get_options())
            for (const std::string& name : option->get_lnames()) all.push_back("--" + name);
    return all;
}

Candidates command_words(const CLI::App& command) {
    Candidates all;
    for (const CLI::App* below : command.get_subcommands({}))
        if (!below->get_group().empty()) all.push_back(below->get_name());
    return all;
}

/// The option whose value is being typed; nullptr: none is.
const CLI::Option* option_before(const CLI::App& command, const Candidates& done) {
    if (done.empty() || !done.back().starts_with('-') || done.back().find('=') != std::string::npos)
        return nullptr;
    for (const CLI::App* app = &command; app; app = app->get_parent())
        if (const CLI::Option* option = app->get_option_no_throw(done.back()))
            return option->get_items_expected_min() > 0 ? option : nullptr;
    return nullptr;
}

Candidates candidate_words(const CLI::App& app, const Candidates& done, const std::string& current) {
    const CLI::App& command = command_of(app, done);
    const Names names(done);
    if (const CLI::Option* option = option_before(command, done)) return values_of(*option, names);
    if (current.starts_with('-')) return option_words(command);
    if (command.get_name() == "help") return command_words(command_of(app, {done.begin() + 1, done.end()}));
    if (const Candidates commands = command_words(command); !commands.empty()) return commands;
    return arguments_of(command, names);
}

}  // namespace

std::vector<std::string> completions(const CLI::App& app, const std::vector<std::string>& words) {
    const std::string current = words.empty() ? "" : words.back();
    const Candidates done(words.begin(), words.empty() ? words.end() : words.end() - 1);
    Candidates all;
    try {
        for (const std::string& word : candidate_words(app, done, current))
            if (word == file_names || word.starts_with(current)) all.push_back(word);
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch)
        // A damaged database or folder: its own commands say so, a completion has no place to.
    }
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

bool has_completion(const CLI::Option& option) {
    return looks().contains(type_of(option)) || !words_of(option).empty();
}

void print_completions(const CLI::App& app, const std::vector<std::string>& words) {
    for (const std::string& word : completions(app, words))
        if (word.find('\n') == std::string::npos) std::cout << word << '\n';
}

}  // namespace gnnbench
