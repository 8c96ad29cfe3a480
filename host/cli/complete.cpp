#include "cli/complete.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>

#include <gnnbench/error.hpp>

#include "cli/usage.hpp"
#include "data/catalog.hpp"
#include "data/generate.hpp"
#include "data/import.hpp"
#include "data/profile.hpp"
#include "plugin/loader.hpp"
#include "spec/machine_file.hpp"
#include "record/origin.hpp"
#include "record/query.hpp"
#include "record/schema.hpp"
#include "run/definitions.hpp"
#include "spec/fields.hpp"
#include "spec/words.hpp"

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
        : database_(given(words, "--database", "GNNBENCH_DATABASE", "gnnbench.sqlite")),
          data_dir_(given(words, "--data-dir", "GNNBENCH_DATA", "")) {}

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

/// Values of an option, where they are not just any text.
Candidates values_of(const std::string& option, const std::string& command, const Names& names) {
    if (option == "--experiment") return names.experiments();
    if (option == "--tag") return names.tags();
    if (option == "--named") return named_query_names();
    if (option == "--with") return Names::plugins(PluginKind::partitioner);
    if (option == "--launcher") return {words::launcher.begin(), words::launcher.end()};
    if (option == "--profile") return {"small", "paper"};
    if (option == "--set" && command != "generate" && command != "import") return keys_to_set();
    if (option == "--format") {
        if (command == "figure") return {"svg", "png", "pdf"};
        if (command == "trace") return {"chrome", "svg"};
        if (command == "import") return importer_formats();
        return {"text", "markdown", "latex", "html", "csv", "json"};
    }
    if (option == "--database" || option == "--data-dir" || option == "--output" || option == "-o" ||
        option == "--export")
        return {file_names};
    return {};
}

/// Arguments of a command: "plugin info".
Candidates arguments_of(const std::string& command, const Names& names) {
    using Look = std::function<Candidates(const Names&)>;
    static const auto of_experiment = [](const Names&) { return Candidates{file_names}; };
    static const auto of_side = [](const Names& n) { return n.sides(); };
    static const auto of_dataset = [](const Names& n) { return n.datasets(); };
    static const auto of_drawn = [](const Names& n) { return n.definitions_and_experiments(); };
    static const std::map<std::string, Look> looks{
        {"run", of_experiment},
        {"plan", of_experiment},
        {"validate", of_drawn},
        {"verify", of_experiment},
        {"init", of_experiment},
        {"table", of_drawn},
        {"figure", of_drawn},
        {"report", of_drawn},
        {"trace",
         [](const Names& n) {
             Candidates all = n.experiments();
             append(all, n.trials());
             return all;
         }},
        {"compare", of_side},
        {"gate", of_side},
        {"partition", of_dataset},
        {"dataset info", of_dataset},
        {"dataset check", of_dataset},
        {"dataset balance", of_dataset},
        {"dataset profile", of_dataset},
        {"dataset profiles", [](const Names&) { return profile_names(); }},
        {"dataset import", of_experiment},
        {"dataset generate", [](const Names&) { return generator_kinds(); }},
        {"machine show", [](const Names&) { return machine_names(); }},
        {"plugin info", [](const Names&) { return Names::all_plugins(); }},
        {"plugin new", [](const Names&) { return Candidates{"strategy", "partitioner", "importer"}; }},
        {"results show", [](const Names& n) { return n.trials(); }},
        {"results tag", [](const Names& n) { return n.tags(); }},
        {"results export", [](const Names&) { return Names::views(); }},
        {"results import", of_experiment},
        {"export", [](const Names&) { return Names::views(); }},
        {"query", [](const Names&) { return Names::views(); }},
        {"completion", [](const Names&) { return Candidates{"bash", "zsh", "fish"}; }},
    };
    const auto look = looks.find(command);
    return look == looks.end() ? Candidates() : look->second(names);
}

/// "dataset info" of the command's typed name, without the program.
std::string path_of(const CLI::App& command) {
    const std::string whole = typed_name(command);
    const std::size_t blank = whole.find(' ');
    return blank == std::string::npos ? "" : whole.substr(blank + 1);
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

/// The option whose value is being typed; empty if it is none.
std::string option_before(const CLI::App& command, const Candidates& done) {
    if (done.empty() || !done.back().starts_with('-') || done.back().find('=') != std::string::npos) return "";
    for (const CLI::App* app = &command; app; app = app->get_parent())
        if (const CLI::Option* option = app->get_option_no_throw(done.back()))
            return option->get_items_expected_min() > 0 ? done.back() : "";
    return "";
}

Candidates candidate_words(const CLI::App& app, const Candidates& done, const std::string& current) {
    const CLI::App& command = command_of(app, done);
    const Names names(done);
    if (const std::string option = option_before(command, done); !option.empty())
        return values_of(option, command.get_name(), names);
    if (current.starts_with('-')) return option_words(command);
    if (command.get_name() == "help") return command_words(command_of(app, {done.begin() + 1, done.end()}));
    if (const Candidates commands = command_words(command); !commands.empty()) return commands;
    return arguments_of(path_of(command), names);
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

void print_completions(const CLI::App& app, const std::vector<std::string>& words) {
    for (const std::string& word : completions(app, words))
        if (word.find('\n') == std::string::npos) std::cout << word << '\n';
}

}  // namespace gnnbench
