# shellcheck shell=bash disable=SC2034 # its variables are for those who source it
# Sourced by the tests of the program: a scratch folder, a tiny experiment, and what is expected of commands.
# usage: TEST BIN_FOLDER
set -euo pipefail
bin="$(cd -- "$1" && pwd)"
work="$(mktemp -d)"
cleanup=(rm -rf "$work")
trap '"${cleanup[@]}"' EXIT
cd "$work"
export XDG_CACHE_HOME="$work/.cache" # what a user's cache remembers of another test is none of this one's
export GNNBENCH_ALLOW_PROGRAMS=1 XDG_CONFIG_HOME="$work/config" # nothing of a test is remembered
unset GNNBENCH_DATABASE GNNBENCH_DATA GNNBENCH_PLUGIN_PATH GNNBENCH_MPIEXEC GNNBENCH_WORKER

fail() {
    printf 'FAILED: %s\n' "$*"
    for file in out err; do
        printf -- '--- %s\n' "$file"
        tail -n 30 "$work/$file" 2>/dev/null || true
    done
    exit 1
}

# gnnbench ARGUMENT …: sets `code`; what it prints is in the files out and err.
gnnbench() {
    code=0
    "$bin/gnnbench" "$@" >"$work/out" 2>"$work/err" || code=$?
}

# expect_code CODE WHAT
expect_code() { [[ $code -eq $1 ]] || fail "$2: expected exit code $1, found $code"; }

# expect_text FILE TEXT WHAT: TEXT occurs in out or err.
expect_text() { grep -qF -- "$2" "$work/$1" || fail "$3: expected '$2' in $1"; }

# refuse_text FILE PATTERN WHAT
refuse_text() { ! grep -qE -- "$2" "$work/$1" || fail "$3: found '$2' in $1"; }

# A person reads one message, never a stack trace or a C++ type.
expect_plain_error() {
    refuse_text err 'terminate called|what\(\)|std::|nlohmann|\[json\.exception|Segmentation|core dumped' "$1"
    [[ -s "$work/err" ]] || fail "$1: expected a message on stderr"
}

# ask SQL: the value of the first column of the first row.
ask() { "$bin/gnnbench" query --csv "$1" | sed -n 2p | cut -d, -f1; }

# expect_value SQL VALUE WHAT
expect_value() {
    local found
    found="$(ask "$1")" || fail "$3: cannot ask '$1'"
    [[ "$found" == "$2" ]] || fail "$3: expected '$2', found '$found' ($1)"
}

# until_value SQL VALUE SECONDS WHAT: waits for it.
until_value() {
    local i
    for ((i = 0; i < $3 * 5; i++)); do
        [[ "$(ask "$1" 2>/dev/null || true)" == "$2" ]] && return 0
        sleep 0.2
    done
    fail "$4: '$1' did not become '$2' within $3 s"
}

# trial_processes: the process ids of all trials that this test's experiments started.
trial_processes() {
    local environ
    for environ in /proc/[0-9]*/environ; do
        grep -qz "^GNNBENCH_TEST=$work\$" "$environ" 2>/dev/null || continue
        grep -qz '^GNNBENCH_TRIAL=' "$environ" 2>/dev/null || continue
        basename "$(dirname "$environ")"
    done
}
export GNNBENCH_TEST="$work"

# ranks: the worker processes among them.
ranks() {
    local pid
    for pid in $(trial_processes); do
        [[ "$(cat "/proc/$pid/comm" 2>/dev/null)" == gnnbench-worker ]] && echo "$pid"
    done
    return 0
}

# expect_no_processes SECONDS WHAT
expect_no_processes() {
    local i
    for ((i = 0; i < $1 * 5; i++)); do
        [[ -z "$(trial_processes)" ]] && return 0
        sleep 0.2
    done
    fail "$2: processes of the trial live on after $1 s: $(trial_processes | tr '\n' ' ')"
}

# tiny_experiment FILE: two schemes, three cells, seconds of work.
tiny_experiment() {
    cat >"$1" <<'YAML'
name: tiny
dataset: {generate: dcsbm, vertices: 300, average_degree: 8, features: 8, classes: 4}
model: {layers: gcn, hidden: [8], activation: relu}
matrix:
  scheme: [serial, mg-gcn]
  gpus: [1, 2]
partitioner: random
kernel: cpu
threads_per_rank: 1
epochs: 3
warmup: 1
trials: 2
YAML
}

# long_experiment FILE: one cell of two ranks that trains until it is stopped.
long_experiment() {
    cat >"$1" <<'YAML'
name: long
dataset: {generate: dcsbm, vertices: 2000, average_degree: 10, features: 16, classes: 4}
model: {layers: gcn, hidden: [16], activation: relu}
scheme: mg-gcn
gpus: 2
partitioner: random
kernel: cpu
threads_per_rank: 1
epochs: 1000000
warmup: 0
trials: 1
YAML
}
