#!/usr/bin/env bash
# inside.sh ARCHIVE: as a new user without root would, unpacks the program and follows the walk-throughs of README.md,
# docs/plugin-guide.md and docs/own-paper.md: a strategy, a partitioner, an importer, and a paper's table of one's own.
set -euo pipefail

fail() {
    printf 'FAILED: %s\n' "$*"
    exit 1
}
# expect WHAT TEXT FOUND: TEXT occurs in FOUND.
expect() { [[ "$3" == *"$2"* ]] || fail "$1: expected \"$2\", found \"$3\""; }
# step TEXT: what is shown as it begins.
step() { printf '== %s\n' "$*"; }
# quietly COMMAND …: its output only if it fails.
quietly() { "$@" >log 2>&1 || { cat log && fail "$*"; }; }

[[ $EUID -ne 0 ]] || fail "this is for a user without root"
cd -- "$HOME"
step "unpacking"
tar -xzf "$1"
prefix="$(echo "$HOME"/gnnbench-*-cpu)"
PATH="$prefix/bin:$PATH"
gnnbench version
gnnbench doctor || true

# plugin KIND NAME: as the README says.
plugin() {
    quietly gnnbench plugin new "$1" "$2"
    quietly cmake -S "$2" -B "$2/build" -DCMAKE_PREFIX_PATH="$prefix"
    quietly cmake --build "$2/build"
}
step "a strategy, a partitioner and an importer of one's own"
plugin strategy my-scheme
plugin partitioner my-parts
plugin importer my-format
export GNNBENCH_PLUGIN_PATH="$HOME/my-scheme/build:$HOME/my-parts/build:$HOME/my-format/build"
expect "plugin list" "my-scheme" "$(gnnbench plugin list)"
cat >own.yaml <<YAML
name: own
dataset: {path: $HOME/my-format/example.my-format, format: my-format, features: 4, classes: 2}
model: {hidden: [4]}
matrix:
  scheme: [serial, my-scheme]
  partitioner: [block, my-parts]
  gpus: [1, 2]
epochs: 3
warmup: 0
trials: 2
YAML
gnnbench run own.yaml
# Two cells of my-scheme on two ranks, and one on one.
counted="$(gnnbench query --csv "SELECT count(DISTINCT gpus || partitioner) AS cells FROM trials
    WHERE status = 'ok' AND purpose = 'measure' AND experiment = 'own' AND scheme = 'my-scheme'" | tail -n 1)"
[[ "$counted" == 3 ]] || fail "expected three cells of my-scheme, found $counted"

step "workers of one's own"
quietly gnnbench plugin new strategy my-workers --workers
quietly cmake -S my-workers -B my-workers/build -DCMAKE_PREFIX_PATH="$prefix"
quietly cmake --build my-workers/build
expect "workers" "my-workers" "$(GNNBENCH_PLUGIN_PATH="$HOME/my-workers/build" gnnbench plugin info my-workers)"

step "a paper of one's own"
gnnbench init --paper my-paper
gnnbench validate experiments/my-paper
gnnbench run experiments/my-paper
first="$(sed -n '2p' experiments/my-paper/published.csv)"
[[ -n "$first" ]] || printf 'table-1,2,mg-gcn,12.5,ms,p. 6,12.5,\n' >>experiments/my-paper/published.csv
gnnbench validate experiments/my-paper
shown="$(gnnbench table my-paper/table-1)"
printf '%s\n' "$shown"
gnnbench figure my-paper/figure-1 -o figure-1.svg
gnnbench report experiments/my-paper -o page.html
[[ -s figure-1.svg && -s page.html ]] || fail "figure and report are empty"
step "done"
