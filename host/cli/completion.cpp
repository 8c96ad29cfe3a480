#include <iostream>
#include <string>

#include "cli/options.hpp"

namespace gnnbench {

namespace {

/// Everything that may follow a command: its subcommands and long options, and the program's.
std::string words_after(const CLI::App& command) {
    std::string words;
    for (const CLI::App* below : command.get_subcommands({}))
        if (!below->get_group().empty()) words += below->get_name() + ' ';
    for (const CLI::App* app = &command; app; app = app->get_parent())
        for (const CLI::Option* option : app->get_options())
            for (const std::string& name : option->get_lnames()) words += "--" + name + ' ';
    return words;
}

/// One `case` branch per command, keyed by the commands typed so far.
void print_branches(const CLI::App& command, const std::string& typed) {
    std::cout << "        '" << typed << "') echo '" << words_after(command) << "' ;;\n";
    for (const CLI::App* below : command.get_subcommands({}))
        print_branches(*below, typed + (typed.empty() ? "" : " ") + below->get_name());
}

void print_bash(const CLI::App& app) {
    std::cout << R"(# bash completion for gnnbench:  source <(gnnbench completion bash)
_gnnbench_words() {
    case "$1" in
)";
    print_branches(app, "");
    std::cout << R"(        *) return 1 ;;
    esac
}
_gnnbench() {
    local current="${COMP_WORDS[COMP_CWORD]}" typed="" word words=""
    # The longest run of commands at the start; what follows are their arguments.
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        _gnnbench_words "${typed:+$typed }$word" > /dev/null || break
        typed="${typed:+$typed }$word"
    done
    words=$(_gnnbench_words "$typed")
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    [[ "$current" == -* ]] || COMPREPLY+=($(compgen -f -- "$current"))
}
complete -o filenames -F _gnnbench gnnbench
)";
}

}  // namespace

void add_completion(CLI::App& app, const GlobalOptions&, Action& action) {
    CLI::App* command = app.add_subcommand("completion", "Print a shell's completion script for gnnbench");
    auto shell = std::make_shared<std::string>();
    command->add_option("shell", *shell, "bash")->required()->check(CLI::IsMember({"bash"}));
    command->callback([&app, &action] {
        action = [&app] {
            print_bash(app);
            return exit_ok;
        };
    });
}

}  // namespace gnnbench
