#!/usr/bin/env bash
# In a copy of the sources to which all changes of this folder were applied: builds it, and uses what each has added.
source "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../../.ci/common.sh"
setup
build release all
cd -- "$root"
# The references follow from what was declared.
GNNBENCH_REWRITE=1 build/release/bin/unit_spec "the committed*" >/dev/null || true
# An option changes every cell's digest, one of which a test has.
build/release/bin/unit_spec '~identities stay what they were*'
ctest --preset release -j "$jobs" -R '^(unit\.(cli|check|core)|contract\.(kernel|strategy\.2))$'

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cat >"$work/changes.yaml" <<'YAML'
name: changes
dataset: {generate: dcsbm, vertices: 300, average_degree: 8, features: 8, classes: 3}
model: {hidden: [8]}
matrix:
  scheme: [serial, broadcast-rows]
  model.layers: [gcn, graph-conv]
  model.self_loop_weight: [1, 2]
  gpus: [1, 2]
  exclude: {scheme: serial, gpus: 2}
epochs: 3
warmup: 0
trials: 1
YAML
gnnbench=(build/release/bin/gnnbench --database "$work/changes.sqlite")
"${gnnbench[@]}" licence | grep -q Apache || fail 1 "the command does not answer"
"${gnnbench[@]}" run "$work/changes.yaml" --data-dir "$work/data"
# Twelve cells, all verified; GCN's losses depend on the option, and those of graph-conv, without loops, do not.
counted="$("${gnnbench[@]}" query --csv "SELECT count(DISTINCT cell) AS cells, count(DISTINCT round(loss, 4)) AS losses
    FROM epochs WHERE epoch = 2 AND purpose = 'measure'" | tail -n 1)"
[[ "$counted" == 12,3 ]] || fail 1 "expected 12 cells with 3 different losses, found $counted"
say "all changes build and work"
