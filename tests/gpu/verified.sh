#!/usr/bin/env bash
# Schemes that the contract of strategies does not run on the emulated device: batches, gossip, old rows, eight ranks. Each is
# verified there, with NCCL, streams that get somewhere by chance, and a query of a stream that often says "not ready".
# usage: verified.sh BIN_FOLDER
# shellcheck source=tests/endtoend/lib.sh
source "$(dirname "$0")/../endtoend/lib.sh"
export GNNBENCH_PLUGIN_PATH="$bin/../emulated" GNNBENCH_EMULATED_DEVICES=8 GNNBENCH_EMULATED_SEED=7
cat >verified.yaml <<'YAML'
name: verified
dataset: {generate: dcsbm, vertices: 120, average_degree: 6, features: 6, classes: 3}
model: {layers: gcn, hidden: [5], activation: relu}
matrix:
  scheme: [gossip-gcn, minibatch-p2p, pipegcn, sancus, cagnet-3d]
  gpus: [3, 8]
  exclude:
    - where: "(scheme = 'cagnet-3d') = (gpus = 3)"
partitioner: random
kernel: {name: cuda, transport: nccl}
threads_per_rank: 1
epochs: 2
warmup: 0
trials: 1
YAML
gnnbench verify verified.yaml
expect_code 0 "verify on the emulated device"
expect_value "SELECT count(*) FROM trial WHERE purpose = 'verify' AND status = 'ok'" 5 "verifications that ended"
expect_text out "cagnet-3d" "the table"
refuse_text out 'skipped|FAILED|crashed' "the table"
echo ok
