#!/usr/bin/env bash
# A slowdown that an experiment declares: planned, refused, obeyed, recorded and shown.
# shellcheck source=tests/endtoend/lib.sh
source "$(dirname "$0")/lib.sh"
cat >slow.yaml <<'YAML'
name: slow
dataset: {generate: dcsbm, vertices: 4000, average_degree: 20, features: 64, classes: 4}
model: {layers: gcn, hidden: [64], activation: relu}
scheme: {name: gossip-gcn, clusters: 8, averaging_interval: 100000}
partitioner: block
gpus: 2
kernel: cpu
threads_per_rank: 1
matrix: {slowdown: [{}, {1: 300}, {5: 2}]}
epochs: 8
warmup: 1
trials: 1
YAML

gnnbench run slow.yaml --set 'matrix.slowdown=[{1: 0.5}]'
expect_code 2 "a factor below 1"
expect_text err "slowdown.1: expected a factor between 1 and 1000000; found the real number 0.5" "a factor below 1"
expect_plain_error "a factor below 1"
gnnbench plan slow.yaml
expect_code 0 "a plan"
expect_text out "{1: 300}" "a plan shows slowdowns"
expect_text out "slowdown names rank 5; ranks are {0 … 1}" "a rank that the cell has not"
gnnbench plan slow.yaml --set scheme=mg-gcn --set 'matrix.slowdown=[{}, {1: 2}]'
expect_text out "2 cells: 1 to run" "a scheme without batches"
expect_text out "slowdown is for schemes that train by batches" "a scheme without batches"

gnnbench run slow.yaml
expect_code 0 "run"
expect_text out "{1: 300}" "the table tells cells apart"
expect_value "SELECT count(*) FROM trials WHERE purpose = 'measure' AND status = 'ok' AND slowdown = '{1: 300}'" 1 \
    "the slowdown of a trial"
expect_value "SELECT count(*) FROM cells WHERE slowdown = 'none'" 1 "a cell without slowdown"
expect_value "SELECT count(DISTINCT verification_key) FROM cell WHERE slowdown IN ('none', '{1: 300}')" 1 \
    "a verification serves any pace"
expect_value "SELECT 3 * sum(steps * (rank = 1)) < sum(steps * (rank = 0)) FROM workers WHERE slowdown = '{1: 300}'" 1 \
    "the slow worker trains fewer batches"
gnnbench run slow.yaml --where "slowdown = '{1: 300}'"
expect_text err "nothing to run; 1 trial there already" "cells are chosen by their slowdown"
gnnbench report slow --output slow.html
expect_code 0 "a report"
grep -qF ", slowdown {1: 300}" slow.html || fail "the report does not tell the slowdown"
echo ok
