#include "cli/usage.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>
#include <gnnbench/spelling.hpp>

#include "data/generate.hpp"
#include "data/import.hpp"
#include "spec/fields.hpp"

namespace gnnbench {
namespace {

using CommandWords = std::vector<std::string>;

/// −1 is a value, as CLI11 reads it.
bool is_option(const std::string& word) {
    return word.size() > 1 && word.front() == '-' && !std::isdigit(static_cast<unsigned char>(word[1]));
}

/// "--jobs" of "--jobs=2", "-j" of "-j2".
std::string name_in(const std::string& word) {
    return word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2);
}

/// The option of that name of the command or of one that encloses it; nullptr if there is none.
const CLI::Option* option_of(const CLI::App& command, const std::string& name) {
    for (const CLI::App* app = &command; app; app = app->get_parent())
        if (const CLI::Option* option = app->get_option_no_throw(name)) return option;
    return nullptr;
}

const CLI::App* command_below(const CLI::App& app, const std::string& word) {
    for (const CLI::App* below : app.get_subcommands({}))
        if (below->check_name(word)) return below;
    return nullptr;
}

/// Those that --help shows.
std::vector<const CLI::App*> shown_commands(const CLI::App& app) {
    std::vector<const CLI::App*> all;
    for (const CLI::App* below : app.get_subcommands({}))
        if (!below->get_group().empty()) all.push_back(below);
    return all;
}

CommandWords command_names(const CLI::App& app) {
    CommandWords names;
    for (const CLI::App* below : shown_commands(app)) {
        names.push_back(below->get_name());
        for (const std::string& alias : below->get_aliases()) names.push_back(alias);
    }
    return names;
}

CommandWords option_names(const CLI::App& command) {
    CommandWords names;
    for (const CLI::App* app = &command; app; app = app->get_parent())
        for (const CLI::Option* option : app->get_options())
            for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    return names;
}

/// What the command's --set takes; nothing where it has no such option.
CommandWords settings_of(const CLI::App& command) {
    CommandWords keys;
    const auto add = [&](std::span<const ParamDecl> params) {
        for (const ParamDecl& p : params) keys.emplace_back(p.name);
    };
    if (!command.get_option_no_throw("--set")) return keys;
    if (command.get_name() == "generate")
        for (const std::string& kind : generator_kinds()) add(generator_params(kind));
    else if (command.get_name() == "import")
        for (const ImportForm& form : import_forms()) add(form.params);
    else if (command.get_option_no_throw("--profile"))  // an experiment's
        for (const Field& field : fields()) keys.emplace_back(field.path);
    return keys;
}

/// The key that an option was meant for: "lr" for train.lr, hidden_units for nothing.
std::string key_meant(const CommandWords& keys, std::string word) {
    std::ranges::replace(word, '-', '_');
    for (const std::string& key : keys)
        if (key == word) return key;
    for (const std::string& key : keys)
        if (last_word(key) == word) return key;
    return "";
}

/// The value given with the option in words[at].
std::string value_in(const CommandWords& words, std::size_t at) {
    if (const std::size_t sign = words[at].find('='); sign != std::string::npos) return words[at].substr(sign + 1);
    return at + 1 < words.size() && !is_option(words[at + 1]) ? words[at + 1] : "VALUE";
}

/// A command below that is typed later, and has the option.
const CLI::App* owner_typed_later(const CLI::App& command, const std::string& name, const CommandWords& words,
                                  std::size_t at) {
    for (std::size_t i = at + 1; i < words.size(); ++i)
        if (const CLI::App* below = command_below(command, words[i]))
            if (below->get_option_no_throw(name)) return below;
    return nullptr;
}

/// The command that has the option, if it is the only one.
const CLI::App* only_owner(const CLI::App& app, const std::string& name) {
    const CLI::App* only = nullptr;
    for (const CLI::App* other : shown_commands(app)) {
        if (!other->get_option_no_throw(name)) continue;
        if (only) return nullptr;
        only = other;
    }
    return only;
}

std::string about_option(const CLI::App& app, const CLI::App& command, const CommandWords& words, std::size_t at) {
    const std::string name = words[at].substr(0, words[at].find('='));
    const std::size_t letters = name.find_first_not_of('-');
    const std::string bare = letters == std::string::npos ? "" : name.substr(letters);
    const std::string start = fmt::format("{} has no option {}", typed_name(command), name);
    const CommandWords keys = settings_of(command);
    if (const std::string key = key_meant(keys, bare); !key.empty())
        return fmt::format("{}; {} is set by --set: use --set {}={}", start, key, key, value_in(words, at));
    if (const CLI::App* later = owner_typed_later(command, name, words, at))
        return fmt::format("{0}; it is an option of {1}: write it after the word {2}", start, typed_name(*later),
                           later->get_name());
    const std::string option = nearest("--" + bare, option_names(command)), key = nearest(bare, keys);
    const bool rather_key =
        !key.empty() && (option.empty() || spelling_distance(bare, key) < spelling_distance("--" + bare, option));
    if (rather_key) return fmt::format("{}; did you mean --set {}={}?", start, key, value_in(words, at));
    if (!option.empty()) return fmt::format("{}; did you mean '{}'?", start, option);
    if (const CLI::App* owner = only_owner(app, name))
        return fmt::format("{}; {} has one", start, typed_name(*owner));
    return fmt::format("{} ({} --help lists them)", start, typed_name(command));
}

std::string about_command(const CLI::App& app, const std::string& word) {
    const CommandWords names = command_names(app);
    const std::string near = did_you_mean(word, names);
    if (!app.get_parent())
        return fmt::format("there is no command '{}'{} (gnnbench --help lists all)", word, near);
    return fmt::format("{} expects one of {}; found '{}'{}", typed_name(app), fmt::join(names, ", "), word, near);
}

/// Calls `visit(command, i)` for every word that is an option; `command` is the one typed before it. Returns the last
/// command. CommandWords that are no command are arguments, or refused where a command has to be.
template <class Visit>
const CLI::App& walk_words(const CLI::App& app, const CommandWords& words, const Visit& visit, bool refuse) {
    const CLI::App* command = &app;
    bool arguments = false;  // what follows is no command
    for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
        if (is_option(words[i])) {
            const CLI::Option* option = visit(*command, i);
            const bool takes_next =
                option && option->get_items_expected_min() > 0 && words[i] == name_in(words[i]);
            if (takes_next) ++i;
        } else if (const CLI::App* below = arguments ? nullptr : command_below(*command, words[i])) {
            command = below;
        } else if (!arguments) {
            if (refuse && !command->get_subcommands({}).empty())
                throw SpecError(about_command(*command, words[i]));
            arguments = true;
        }
    }
    return *command;
}

}  // namespace

const CLI::App& command_of(const CLI::App& app, const CommandWords& words) {
    return walk_words(
        app, words, [&](const CLI::App& c, std::size_t i) { return option_of(c, name_in(words[i])); }, false);
}

std::string typed_name(const CLI::App& command) {
    return (command.get_parent() ? typed_name(*command.get_parent()) + " " : "") + command.get_name();
}

void check_words(const CLI::App& app, const CommandWords& words) {
    const auto known = [&](const CLI::App& command, std::size_t i) {
        const CLI::Option* option = option_of(command, name_in(words[i]));
        if (!option) throw SpecError(about_option(app, command, words, i));
        return option;
    };
    walk_words(app, words, known, true);
}

std::string usage_message(const CLI::App& app, const CommandWords& words, const CLI::ParseError& error) {
    const CLI::App& command = command_of(app, words);
    const std::string name = typed_name(command);
    std::string text = error.what();
    if (dynamic_cast<const CLI::RequiredError*>(&error)) {
        const CommandWords below = command_names(command);
        if (!below.empty())
            return fmt::format("{0} expects a command: {1} ({0} --help describes them)", name,
                               fmt::join(below, ", "));
        return fmt::format("{0} expects the argument {1} ({0} --help describes it)", name,
                           text.substr(0, text.find(' ')));
    }
    if (dynamic_cast<const CLI::ExtrasError*>(&error))
        return fmt::format("{} takes no such argument: {}", name, text.substr(text.find(": ") + 2));
    if (dynamic_cast<const CLI::ConversionError*>(&error)) {
        const std::size_t at = text.find(": "), sign = text.find(" = ");
        if (text.starts_with("Could not convert") && sign != std::string::npos)
            return fmt::format("{}: expected a number; found '{}'", text.substr(at + 2, sign - at - 2),
                               text.substr(sign + 3));
    }
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) && text.ends_with(" missing"))
        return fmt::format("{} expects a value, which is missing", text.substr(0, text.find(':')));
    if (dynamic_cast<const CLI::ExcludesError*>(&error))
        return fmt::format("{} cannot be given together", text.replace(text.find(" excludes "), 10, " and "));
    return text;
}

}  // namespace gnnbench
