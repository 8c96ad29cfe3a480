#include <iostream>
#include <memory>
#include <string>

#include "cli/options.hpp"
#include "cli/ranges.hpp"

namespace gnnbench {

namespace {

// Each script asks `gnnbench __complete` for the words that may follow, so they know what is there now: experiments,
// plugins, datasets, tags. A line ":files" stands for the names of files.

constexpr const char* bash_script = R"(# bash completion for gnnbench:  source <(gnnbench completion bash)
_gnnbench() {
    local current="${COMP_WORDS[COMP_CWORD]}" line
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ "$line" == :files ]]; then
            mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$current")
        else
            COMPREPLY+=("$line")
        fi
    done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    [[ ${#COMPREPLY[@]} -eq 1 && "${COMPREPLY[0]}" == *= ]] && compopt -o nospace
    return 0
}
complete -o filenames -F _gnnbench gnnbench
)";

constexpr const char* zsh_script = R"(#compdef gnnbench
# zsh completion for gnnbench:  source <(gnnbench completion zsh)  after compinit, or as _gnnbench in a folder of $fpath
_gnnbench() {
    local line
    local -a names
    for line in "${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        if [[ "$line" == :files ]]; then
            _files
        elif [[ -n "$line" ]]; then
            names+=("$line")
        fi
    done
    (( ${#names} )) && compadd -- "${names[@]}"
    return 0
}
if [[ "${funcstack[1]}" == _gnnbench ]]; then
    _gnnbench "$@"
else
    compdef _gnnbench gnnbench
fi
)";

constexpr const char* fish_script = R"(# fish completion for gnnbench:  gnnbench completion fish | source
function __gnnbench_complete
    set -l typed (commandline -opc)
    set -l current (commandline -ct)
    for line in ($typed[1] __complete $typed[2..-1] "$current" 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path "$current"
        else
            printf "%s\n" $line
        end
    end
end
complete -c gnnbench -f -a '(__gnnbench_complete)'
)";

}  // namespace

void add_completion(CLI::App& app, const GlobalOptions&, Action& action) {
    CLI::App* command = app.add_subcommand("completion", "Print a shell's completion script for gnnbench");
    auto shell = std::make_shared<std::string>();
    command->add_option("shell", *shell, "The shell")->required()->check(one_of({"bash", "zsh", "fish"}));
    command->callback([&action, shell] {
        action = [shell] {
            std::cout << (*shell == "bash" ? bash_script : *shell == "zsh" ? zsh_script : fish_script);
            return exit_ok;
        };
    });
}

}  // namespace gnnbench
