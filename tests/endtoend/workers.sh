#!/usr/bin/env bash
# Strategies on batches, as a user runs them: each of them where it is supported, workers' records, and a worker that is
# killed while others wait for it or train on.
# shellcheck source=tests/endtoend/lib.sh
source "$(dirname "$0")/lib.sh"

cat >all.yaml <<'YAML'
name: all
dataset: {generate: dcsbm, vertices: 240, average_degree: 8, features: 6, classes: 4, multi_label: true}
model: {layers: sage, hidden: [8]}
train: {dropout: 0.2, evaluate_every: 2}
matrix:
  scheme:
    - {name: cluster-gcn, clusters: 12}
    - {name: allreduce-gcn, clusters: 12, averaging_interval: 5}
    - {name: gossip-gcn, clusters: 12, averaging_interval: 2}
    - {name: gossip-active-passive, clusters: 12}
  gpus: [1, 2, 4]
partitioner: random
threads_per_rank: 1
epochs: 4
warmup: 1
trials: 1
YAML
gnnbench run all.yaml
expect_code 0 "every strategy on batches"
expect_value "SELECT count(*) FROM trial WHERE purpose = 'measure' AND status = 'ok'" 9 "cells that are supported"
expect_value "SELECT count(*) FROM trial WHERE purpose = 'measure' AND status = 'skipped'" 3 "cells that are not"
expect_value "SELECT count(*) > 0 AND min(volume_equal IS 1) FROM verifications" 1 "volumes, verified"
# Cluster-GCN has one rank, and states nothing.
expect_value "SELECT count(*) FROM trials WHERE purpose = 'measure' AND scheme NOT LIKE 'cluster-gcn%' AND volume_as_stated = 1" 8 \
    "volumes as stated"
# A pool of 5 epochs of 12 batches, each trained once, whoever took it.
expect_value "SELECT min(steps) FROM (SELECT sum(steps) AS steps FROM workers GROUP BY trial)" 60 "fewest batches of a trial"
expect_value "SELECT max(steps) FROM (SELECT sum(steps) AS steps FROM workers GROUP BY trial)" 60 "most batches of a trial"
expect_value "SELECT min(epochs) FROM (SELECT count(*) AS epochs FROM epoch GROUP BY trial_id)" 5 "epochs of each trial"
expect_value "SELECT count(*) FROM evaluations WHERE metric <> 'micro-F1'" 0 "what evaluations are of"
expect_value "SELECT count(DISTINCT epoch) FROM evaluations" 3 "epochs that are evaluated"
# One with another is the other with the one.
expect_value "SELECT sum(CASE WHEN rank < partner THEN 1 ELSE -1 END) FROM averaging" 0 "averagings of both"
expect_value "SELECT count(*) > 0 FROM averaging" 1 "averagings"

# The same batch on all ranks, each with its share: a batch is a step of every rank.
cat >samples.yaml <<'YAML'
name: samples
dataset: {generate: dcsbm, vertices: 240, average_degree: 8, features: 6, classes: 4}
model: {hidden: [8]}
train: {dropout: 0.2}
matrix:
  scheme:
    - {name: minibatch-p2p, batch_vertices: 60}
    - {name: minibatch-p2p, sampler: neighbours, batch_vertices: 60, fan_out: 3}
  gpus: [1, 2, 4]
partitioner: metis
threads_per_rank: 1
epochs: 4
warmup: 1
trials: 1
YAML
gnnbench run samples.yaml
expect_code 0 "samples over a partition"
expect_value "SELECT count(*) FROM trials WHERE experiment = 'samples' AND purpose = 'measure' AND status = 'ok'" 6 "cells of samples"
expect_value "SELECT count(*) > 0 AND min(volume_equal IS 1) FROM verifications WHERE scheme LIKE 'minibatch-p2p%'" 1 \
    "volumes of samples, verified"
expect_value "SELECT count(*) FROM trials WHERE experiment = 'samples' AND purpose = 'measure' AND volume_as_stated = 1" 6 \
    "volumes of samples"
expect_value "SELECT count(DISTINCT sent) > 1 FROM (SELECT epoch, sum(sent_bytes) AS sent FROM volumes WHERE experiment = 'samples' AND gpus = 4 AND operation = 'point-to-point' GROUP BY trial, epoch)" 1 "volumes of different epochs"

cat >long.yaml <<'YAML'
name: long
dataset: {generate: dcsbm, vertices: 2000, average_degree: 40, features: 32, classes: 4}
model: {hidden: [32]}
scheme: {name: gossip-gcn, clusters: 40}
partitioner: random
gpus: 3
threads_per_rank: 1
epochs: 100000
warmup: 0
trials: 1
YAML
"$bin/gnnbench" run --no-verify long.yaml >"$work/out" 2>"$work/err" &
host=$!
until_value "SELECT count(*) > 3 FROM workers WHERE experiment = 'long'" 1 60 "workers train"
begun=$SECONDS
kill -9 "$(ranks | tail -n 1)"
code=0
wait "$host" || code=$?
[[ $((SECONDS - begun)) -le 30 ]] || fail "a killed worker: it took $((SECONDS - begun)) s"
expect_code 1 "a killed worker"
expect_no_processes 5 "a killed worker"
expect_value "SELECT status FROM trials WHERE experiment = 'long'" crashed "a killed worker"
expect_value "SELECT count(*) > 3 FROM workers WHERE experiment = 'long'" 1 "what workers had recorded"
echo "ok"
