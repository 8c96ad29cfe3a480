#!/usr/bin/env bash
# `plan --memory` predicts the most host memory that a rank's process will have in use; trials record it.
# shellcheck source=tests/endtoend/lib.sh
source "$(dirname "$0")/lib.sh"
# Large enough that a process' own beginnings are a small part: the smallest peak is some 230 MiB, an idle worker's 22.
cat >peaks.yaml <<'YAML'
name: peaks
dataset: {generate: dcsbm, vertices: 120000, average_degree: 20, features: 100, classes: 8, directed: true}
model: {layers: gcn, hidden: [64], activation: relu}
matrix:
  scheme: [serial, mg-gcn, sa-1d, plexus-3d, cagnet-2d]
  partitioner: [random]
  gpus: [1, 2]
kernel: cpu
threads_per_rank: 1
epochs: 1
warmup: 0
trials: 1
YAML
gnnbench run --no-verify peaks.yaml
expect_code 0 "trials on one and two ranks"
gnnbench plan peaks.yaml --memory --json
expect_code 0 "a plan that asks the schemes what they hold"
cp out predicted.json
gnnbench query --json "SELECT scheme, gpus, max(host_peak_bytes) AS peak FROM setups GROUP BY cell"
expect_code 0 "the recorded peaks"
python3 - predicted.json out <<'PY' || fail "predicted host memory is not within 25% of the recorded peak"
import json, sys
cells = {(c["scheme"], c["gpus"]): c for c in json.load(open(sys.argv[1]))["cells"] if c["verdict"] != "skipped"}
recorded = json.load(open(sys.argv[2]))
assert len(recorded) == len(cells) == 9, (len(recorded), len(cells))
wrong = []
for r in recorded:
    predicted = cells[r["scheme"], r["gpus"]]["stated_host_peak_bytes"]
    print(r["scheme"], r["gpus"], f"{predicted / 2**20:.1f} predicted, {r['peak'] / 2**20:.1f} MiB recorded")
    if not 0.75 <= predicted / r["peak"] <= 1.25: wrong.append(r)
assert not wrong, wrong
PY
# On a terminal it says how far it is, since many cells take minutes.
TERM=vt100 python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' "$bin/gnnbench" plan peaks.yaml --memory >terminal </dev/null
grep -q 'memory of cell 1 of at most [0-9]* ' terminal || fail "plan --memory shows no progress: $(head -c 400 terminal)"
gnnbench plan peaks.yaml --memory
expect_text out "host/rank" "the table has a column for the host"
