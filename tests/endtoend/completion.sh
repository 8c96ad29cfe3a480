#!/usr/bin/env bash
# What a shell completes with the script that `gnnbench completion` prints. Skipped, with a word, where that shell is not
# installed. usage: completion.sh BIN_FOLDER bash|zsh|fish
# shellcheck source=tests/endtoend/lib.sh
source "$(dirname "$0")/lib.sh"
shell="$2"
if ! command -v "$shell" >/dev/null; then
    echo "skipped: there is no $shell here"
    exit 77
fi
gnnbench completion "$shell"
expect_code 0 "completion $shell"
cp out script
"$shell" -n script || fail "$shell does not read its completion"
export PATH="$bin:$PATH"
touch measured-today.yaml

# What is typed, and what it becomes: a plugin, a fixed word, an option, a file's name.
typed=("gnnbench plugin info mg" "gnnbench completion fi" "gnnbench table --forma" "gnnbench run measured")
wanted=(mg-gcn fish --format measured-today.yaml)

# Each answers with the last word of its line, completed.
complete_in_bash() {
    unset -f gnnbench # of lib.sh
    # shellcheck disable=SC1091
    source ./script
    # shellcheck disable=SC2317 # the completion calls it
    compopt() { :; }
    # shellcheck disable=SC2206 # words of a line
    COMP_WORDS=($1) COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _gnnbench
    printf '%s\n' "${COMPREPLY[@]}"
}

# shellcheck disable=SC2016 # fish expands it
complete_in_fish() { fish --no-config -c 'source ./script; complete -C $argv[1]' "$1" | cut -f1; }

# zsh completes only at a terminal: one of its own types the lines, and a key writes down what became of each.
complete_all_in_zsh() {
    cat >terminal.zsh <<'ZSH'
zmodload zsh/zpty
zpty typing TERM=vt100 zsh -f -i
wait_for() {  # wait_for LINES FILE
    local i
    for ((i = 0; i < 600; i++)); do
        zpty -r -t typing >>|shown
        [[ -e $2 && $(wc -l <$2) -ge $1 ]] && return 0
        sleep 0.1
    done
    return 1
}
zpty -w typing "autoload -Uz compinit; compinit -u -D; source ./script
note() { print -r -- \$BUFFER >>becomes; BUFFER= }; zle -N note; bindkey '^Xn' note; echo >>ready"
wait_for 1 ready || exit 1
for line in "$@"; do
    zpty -w -n typing "$line"$'\t\C-Xn'
done
wait_for $# becomes
ZSH
    zsh -f terminal.zsh "${typed[@]}" || fail "zsh completes nothing: $(cat becomes shown 2>/dev/null)"
}

[[ "$shell" != zsh ]] || complete_all_in_zsh
for i in "${!typed[@]}"; do
    case "$shell" in
        bash) found="$(complete_in_bash "${typed[i]}")" ;;
        fish) found="$(complete_in_fish "${typed[i]}")" ;;
        zsh) found="$(sed -n "$((i + 1))p" becomes | awk '{print $NF}')" ;;
        *) fail "there is no test for $shell" ;;
    esac
    [[ "$found" == "${wanted[i]}" ]] || fail "'${typed[i]}' in $shell: expected ${wanted[i]}, found '$found'"
done
echo ok
