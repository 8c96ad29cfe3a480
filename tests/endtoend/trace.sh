#!/usr/bin/env bash
# A timeline: recorded by run --trace, exported for Perfetto and as a figure, and the overlap is in it.
# shellcheck source=tests/endtoend/lib.sh
source "$(dirname "$0")/lib.sh"
cat >overlap.yaml <<'YAML'
name: overlap
dataset: {generate: dcsbm, vertices: 20000, average_degree: 20, features: 32, classes: 4}
model: {layers: gcn, hidden: [32], activation: relu}
scheme: {name: mg-gcn, overlap: true}
gpus: 2
partitioner: random
kernel: cpu
threads_per_rank: 1
epochs: 4
warmup: 1
trials: 1
YAML

gnnbench run overlap.yaml --no-verify --trace-epochs 5
expect_code 2 "an epoch that no trial has"
expect_text err "trials have 5 epochs here" "an epoch that no trial has"
[[ ! -e gnnbench.sqlite ]] || fail "a run that was refused made a database"
gnnbench trace
expect_code 2 "a timeline without a database"
gnnbench run overlap.yaml --no-verify --trace-epochs -1
expect_code 2 "a negative epoch"

gnnbench run overlap.yaml --no-verify
expect_code 0 "a run without a trace"
gnnbench trace overlap.yaml
expect_code 2 "a trial without spans"
expect_text err "--trace" "a trial without spans"
expect_plain_error "a trial without spans"
gnnbench run overlap.yaml --no-verify --trace
expect_code 0 "--trace with nothing to run"
expect_text err "nothing was traced" "--trace with nothing to run"

gnnbench run overlap.yaml --no-verify --rerun --trace-epochs 0,2 --trace
expect_code 0 "a traced run"
expect_value "SELECT group_concat(epoch, ' ') FROM (SELECT DISTINCT epoch FROM spans)" "0 2 4" "epochs 0, 2 and the last"
# What the spans say and what the epoch says are the same bytes and times.
expect_value "SELECT count(*) FROM (SELECT s.rank, sum(s.bytes) AS spanned, (SELECT sum(sent_bytes + received_bytes)
    FROM volumes v WHERE v.trial = s.trial AND v.epoch = s.epoch AND v.rank = s.rank) AS counted
    FROM spans s GROUP BY s.trial, s.epoch, s.rank) WHERE spanned <> counted OR counted IS NULL" 0 "bytes of the spans"
expect_value "SELECT count(*) FROM spans s JOIN epochs e ON e.trial = s.trial AND e.epoch = s.epoch AND
    e.rank = s.rank WHERE s.begin_s < 0 OR s.end_s > e.wall_s" 0 "spans outside their epoch"
# The promise of the overlapped scheme: a broadcast is under way while an SpMM computes.
overlapped="SELECT count(*) > 0 FROM spans c JOIN spans k ON k.trial = c.trial AND k.epoch = c.epoch AND
    k.rank = c.rank WHERE c.operation = 'broadcast' AND k.operation = 'spmm' AND c.begin_s < k.end_s AND
    k.begin_s < c.end_s"
expect_value "$overlapped" 1 "broadcasts that overlap an SpMM"

gnnbench trace overlap.yaml --epoch 3
expect_code 2 "an epoch that was not traced"
expect_text err "traced were: 0, 2, 4" "an epoch that was not traced"
gnnbench trace overlap.yaml --epoch 2 --output epoch.json
expect_code 0 "a Chrome trace"
[[ ! -s out ]] || fail "--output leaves stdout empty"
# SQLite reads the JSON: whole, with the same overlap in its events. Streams are threads: even ones communicate.
events="(SELECT e.value ->> 'pid' AS pid, e.value ->> 'name' AS name, e.value ->> 'tid' AS tid,
    e.value ->> 'ts' AS begins, (e.value ->> 'ts') + (e.value ->> 'dur') AS ends
    FROM json_each('$(tr -d "'" <epoch.json)', '\$.traceEvents') e WHERE e.value ->> 'ph' = 'X')"
[[ "$(ask "SELECT count(DISTINCT pid) FROM $events")" == 2 ]] || fail "a process for each rank: $(head -n 20 epoch.json)"
[[ "$(ask "SELECT count(*) > 0 FROM $events c JOIN $events k ON k.pid = c.pid WHERE c.name = 'broadcast' AND
    c.tid % 2 = 0 AND k.name = 'spmm' AND k.tid = 1 AND c.begins < k.ends AND k.begins < c.ends")" == 1 ]] ||
    fail "overlap in the Chrome trace: $(cat epoch.json)"

gnnbench trace overlap --output epoch.svg
expect_code 0 "a figure"
[[ "$(head -c 5 epoch.svg)" == "<svg " ]] || fail "no figure: $(head -c 200 epoch.svg)"
grep -q '>communication<' epoch.svg || fail "no communication in the figure"
gnnbench trace overlap --format svg --from 1e9
expect_code 2 "a figure of nothing"
gnnbench trace overlap --output nowhere/epoch.svg
expect_code 2 "a folder that is not there"
expect_text err "mkdir -p nowhere" "a folder that is not there"
gnnbench trace overlap --output epoch.png
expect_code 2 "a timeline in a format that there is not"
expect_text err ".json, .svg" "a timeline in a format that there is not"

# As a paper's figure: what its largest product took here, and in the paper.
mkdir mine
cat >mine/product.yaml <<'YAML'
title: Timeline of a product
source: A paper
experiments: overlap
row_head: scheme
rows:
  - {name: overlapped, where: {scheme: mg-gcn}}
columns:
  - {name: SpMM, cell: {metric: product_s, unit: ms}}
plot: {kind: timeline, window: product}
YAML
cat >mine/published.csv <<'CSV'
table,row,column,value,unit,page,verbatim,erratum
product,overlapped,SpMM,38,ms,Figure 1,38 ms,
CSV
gnnbench figure mine/product.yaml --output product.svg
expect_code 0 "a paper's timeline"
grep -Eq '>overlapped, [0-9.]+ ms \(paper: 38 ms\)<' product.svg || fail "a timeline's title: $(grep '<text>' product.svg)"

# Of several traced trials the median one of the widest cell, and which it is.
gnnbench run overlap.yaml --no-verify --trace --set name=several --set gpus=[1,2] --set trials=3 --set 'model.hidden=[8]'
expect_code 0 "traced trials of two cells"
gnnbench trace several --output several.json
expect_code 0 "trace of several trials"
median="$(ask "SELECT trial FROM trials WHERE experiment = 'several' AND gpus = 2 AND purpose = 'measure' ORDER BY epoch_s LIMIT 1 OFFSET 1")"
expect_text err "trial $median: mg-gcn" "trace names its choice"
expect_text err "of 2 traced cells that of the most ranks; the median of its 3 traced trials" "trace says what it chose from"
grep -q "$median" several.json || fail "trace exports what it names"
gnnbench -q trace several --output several.json
refuse_text err "traced cells" "trace -q"

# Without overlap no broadcast is under way while the same rank computes.
export GNNBENCH_DATABASE=sequential.sqlite
gnnbench run overlap.yaml --no-verify --trace --set scheme.overlap=false
expect_code 0 "a run without overlap"
expect_value "$overlapped" 0 "broadcasts that overlap an SpMM without overlap"
echo ok
