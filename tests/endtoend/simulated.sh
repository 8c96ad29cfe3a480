#!/usr/bin/env bash
# An experiment on a machine that nobody has: planned, run in one process, marked everywhere, the same twice.
# shellcheck source=tests/endtoend/lib.sh
source "$(dirname "$0")/lib.sh"
cat >far.yaml <<'YAML'
name: far
dataset: {generate: dcsbm, vertices: 3000, average_degree: 12, features: 32, classes: 4}
model: {layers: gcn, hidden: [32], activation: relu}
matrix: {scheme: [mg-gcn, sa-1d, {name: plexus-3d, grid: given, x: 2, y: 2, z: 4}, gossip-gcn], gpus: [3, 16, 64]}
partitioner: random
kernel: {name: simulated, machine: perlmutter}
epochs: 2
warmup: 1
trials: 1
YAML

gnnbench machine list
expect_code 0 "machines"
expect_text out perlmutter "machines"
gnnbench machine show dgx-a100
expect_text out "MG-GCN, section 6.1" "a machine's numbers name their sources"
expect_text out "10⁹ bytes/s" "a machine's numbers have units"
gnnbench machine show dgx-a101
expect_code 2 "an unknown machine"
expect_text err "did you mean 'dgx-a100'" "an unknown machine"
expect_plain_error "an unknown machine"

gnnbench machine programs
expect_code 0 "programs"
expect_text out "GATECH-EIC/BNS-GCN at b4a48bd" "a program's numbers name their sources"

gnnbench plan far.yaml --set 'kernel={name: simulated, machine: perlmuter}'
expect_code 2 "an experiment with an unknown machine"
expect_text err "kernel.machine: there is no machine 'perlmuter'" "an experiment with an unknown machine"
gnnbench plan far.yaml --set kernel=simulated
expect_text out "needs a machine" "a kernel without a machine"
gnnbench plan far.yaml --set 'kernel={name: simulated, machine: dgx-a100}'
expect_text out "machine dgx-a100 has 8 devices; 64 given" "more ranks than devices"
gnnbench plan far.yaml
expect_code 0 "a plan"
refuse_text out oversubscribed "cores of this machine are not part of a simulation"

gnnbench run far.yaml
expect_code 0 "run"
expect_text out "kernel simulated (perlmutter)" "the heading names the machine"
expect_text out "SIMULATED on perlmutter: predicted by a model, not measured and not verified" "the table marks numbers"
refuse_text out "verified \(loss" "nothing simulated is verified"
expect_value "SELECT count(*) FROM trials WHERE status = 'ok' AND simulated_on = 'perlmutter'" 10 "trials"
expect_value "SELECT count(*) FROM trials WHERE oversubscribed" 0 "no trial is oversubscribed"
expect_value "SELECT count(*) FROM trials WHERE status = 'ok' AND volume_as_stated = 1" 10 "stated volumes are counted"
expect_value "SELECT count(*) FROM trials WHERE final_loss IS NOT NULL OR test_accuracy IS NOT NULL" 0 "no loss, no score"
expect_value "SELECT count(*) FROM verification WHERE status = 'verified'" 0 "nothing is verified"
expect_value "SELECT count(*) FROM trials WHERE scheme LIKE 'gossip%' AND status = 'ok'" 3 "independent workers"
expect_value "SELECT count(*) FROM trials WHERE status = 'ok' AND device LIKE '%simulated A100-SXM4-40GB (perlmutter)%'" 10 "device"
expect_value "SELECT count(*) FROM trials WHERE status = 'ok' AND mpi <> 'none: simulated'" 0 "no MPI"
expect_value "SELECT count(*) FROM (SELECT r.trial_id, r.epoch FROM rank_epoch r JOIN trial t ON t.id = r.trial_id JOIN cell c
              ON c.id = t.cell_id WHERE c.scheme <> 'gossip-gcn' GROUP BY 1, 2 HAVING count(*) <> min(c.gpus))" \
    0 "every rank has its line; a worker may come too late for an epoch's batches"
gnnbench run far.yaml --set trials=2 --where "scheme = 'mg-gcn' AND gpus = 16"
expect_code 0 "a second trial"
expect_value "SELECT count(*) || ' ' || count(DISTINCT epoch_s) FROM trials WHERE scheme = 'mg-gcn' AND gpus = 16" "2 1" "the same twice"
gnnbench run far.yaml
expect_code 0 "again"
expect_value "SELECT count(*) FROM trials WHERE status = 'ok'" 11 "what is there is not run again"

# As released programs: other cells, under the machine's name with the program's; a scheme whose program is not known is skipped.
gnnbench run far.yaml --set 'kernel={name: simulated, machine: perlmutter as released}' --set 'matrix.gpus=[16]' --set trials=1
expect_code 0 "as released"
expect_text out "SIMULATED on perlmutter as released" "the table says as what"
expect_value "SELECT count(*) FROM trials WHERE status = 'ok' AND simulated_on = 'perlmutter as released'" 3 "programs"
expect_value "SELECT count(*) FROM trials WHERE status = 'skipped' AND reason LIKE '%released program of gossip-gcn%'" 1 \
    "a program that nobody knows"
expect_value "SELECT count(DISTINCT epoch_s) FROM latest WHERE scheme = 'sa-1d' AND gpus = 16" 2 "a program takes its own time"
gnnbench plan far.yaml --set 'kernel={name: simulated, machine: perlmutter as bns}'
expect_code 2 "an unknown program"
expect_text err "there is no program 'bns'" "an unknown program"

# A machine file of one's own: another content is another cell; a device too small is out of memory.
gnnbench machine show perlmutter --file
sed 's/memory_gb: {value: 42.95/memory_gb: {value: 1.0005/' out >mine.yaml
gnnbench run far.yaml --set 'kernel={name: simulated, machine: mine.yaml}' --set 'matrix.gpus=[3]' --set scheme=mg-gcn --set trials=1
expect_code 1 "a device without memory"
expect_value "SELECT count(*) FROM trials WHERE status = 'oom' AND simulated_on LIKE '%/mine.yaml'" 1 "out of memory"
sed -i 's/nics: {value: 4/nisc: {value: 4/' mine.yaml
gnnbench plan far.yaml --set 'kernel={name: simulated, machine: mine.yaml}'
expect_code 2 "a machine file with a mistake"
expect_text err "links.nisc: is unknown" "a machine file with a mistake"
expect_plain_error "a machine file with a mistake"

# A prediction beside a measurement is told apart.
gnnbench run far.yaml --no-verify --set kernel=reference --set 'matrix.gpus=[1]' --set scheme=serial --set name=near --set trials=1
expect_code 0 "a measured run"
gnnbench run far.yaml --set 'matrix.gpus=[1]' --set scheme=serial --set name=far1 --set trials=1
gnnbench compare near far1
expect_text out "SIMULATED" "a comparison says which side is simulated"

# With values: verified, the accuracy of the same training by processes, and the times of the simulation without.
cat >values.yaml <<'YAML'
name: values
dataset: {generate: dcsbm, name: communities, vertices: 600, average_degree: 10, features: 16, classes: 4}
model: {layers: gcn, hidden: [16], activation: relu}
matrix: {scheme: [sa-1d, cagnet-2d], kernel: [{name: simulated, machine: perlmutter, values: true}, {name: simulated, machine: perlmutter}, cpu]}
gpus: 4
partitioner: random
epochs: 20
warmup: 1
trials: 1
YAML
gnnbench run values.yaml
expect_code 0 "a run with values"
expect_text out "SIMULATED on perlmutter: predicted by a model, not measured" "times are predictions"
expect_text out "verified (loss and gradients as the serial float64 reference, bytes as stated)" "values are verified"
computed="SELECT scheme, test_accuracy, final_loss, epoch_s FROM latest WHERE experiment = 'values' AND simulated_on = 'perlmutter' AND final_loss IS NOT NULL"
expect_value "SELECT count(*) FROM ($computed)" 2 "losses and scores are recorded"
expect_value "SELECT count(*) FROM ($computed) a JOIN latest b USING (scheme) WHERE b.experiment = 'values' AND b.kernel = 'cpu' AND abs(a.test_accuracy - b.test_accuracy) < 0.01 AND abs(a.final_loss - b.final_loss) < 1e-4" \
    2 "losses and scores of processes"
expect_value "SELECT count(*) FROM ($computed) a JOIN latest b USING (scheme) WHERE b.experiment = 'values' AND b.simulated_on = 'perlmutter' AND b.final_loss IS NULL AND a.epoch_s = b.epoch_s" \
    2 "times of the simulation without values, to the bit"
gnnbench plan values.yaml --set dataset='{expect: papers100m}' --set matrix.kernel='[{name: simulated, machine: perlmutter, values: true}]'
expect_text out "values: true needs a graph that is there" "values of an expected graph"
gnnbench run values.yaml --set 'matrix.kernel=[{name: simulated, machine: perlmutter, values: true}]' --set 'model.hidden=[1000000, 1000000]' --no-verify --set name=large
expect_value "SELECT count(*) FROM trials WHERE experiment = 'large' AND status = 'skipped' AND reason LIKE 'values: true takes at least %iB of this host%'" \
    2 "more values than memory"

# Graphs of 111 and 14 million vertices that are not there: refused by every other kernel, marked, nothing is stored.
gnnbench plan far.yaml --set dataset='{expect: papers100m}' --set kernel=cpu
expect_code 2 "an expected graph without simulated ranks"
expect_text err "dataset: expect: \"papers100m\" is a graph that is not there" "an expected graph without simulated ranks"
expect_text err "found kernel cpu, allowed is kernel: {name: simulated" "an expected graph without simulated ranks"
expect_plain_error "an expected graph without simulated ranks"
gnnbench plan far.yaml --set dataset='{expect: papers100}'
expect_code 2 "a profile that there is not"
expect_text err "papers100m" "a profile that there is not"
gnnbench plan far.yaml --set dataset='{expect: papers100m}' --set partitioner=metis
expect_text out "give the dataset a locality, or use random" "a partitioner that needs a graph"
gnnbench run far.yaml --set dataset='{expect: products-14m, locality: 0.9, halo: 0.4}' --set 'matrix.gpus=[64]' \
    --set 'matrix.scheme=[sa-1d, bns-gcn, {name: bns-gcn, rate: 0.5}, cluster-gcn]' --set 'partitioner=metis' --set trials=1 --set name=expected
expect_code 0 "a run on an expected graph"
expect_text out "volumes are expectations ± " "a run on an expected graph"
refuse_text out "synthetic data" "an expected graph is not called synthetic besides"
expect_value "SELECT count(*) FROM trials WHERE experiment = 'expected' AND status = 'ok' AND vertices = 14249639" 2 "trials on an expected graph"
expect_value "SELECT count(*) > 0 FROM trials WHERE experiment = 'expected' AND status = 'skipped' AND reason LIKE '%only expected%'" 1 "sampled boundaries need entries"

# A timeline of a simulated epoch: on each rank, 32 broadcasts and 32 products, some beside each other.
gnnbench run far.yaml --set 'matrix.gpus=[16]' --set scheme=mg-gcn --set trials=1 --set name=traced --trace --rerun
expect_code 0 "a run that traces"
expect_value "SELECT count(*) > 0 FROM spans a JOIN spans b USING (trial, rank, epoch) WHERE a.operation = 'spmm' AND b.operation = 'broadcast' AND a.begin_s < b.end_s AND b.begin_s < a.end_s" \
    1 "products overlap broadcasts"
gnnbench trace --output trace.json
expect_code 0 "a timeline"
grep -q '"broadcast"' trace.json || fail "a timeline: no broadcast"
# What Perfetto needs of it: whole JSON, complete events with times, each on a named thread of a named process, a
# process for each rank, and events of a thread one after another; and who looks at it sees that it is a prediction.
python3 - trace.json <<'PYTHON' || fail "a timeline that a viewer opens"
import json, sys
trace = json.load(open(sys.argv[1]))
assert trace["otherData"]["simulated_on"] == "perlmutter" and trace["otherData"]["ranks"] == 16
names = {(e["pid"], e["tid"]): e["args"]["name"] for e in trace["traceEvents"] if e["ph"] == "M" and e["name"] == "thread_name"}
ranks = {e["pid"]: e["args"]["name"] for e in trace["traceEvents"] if e["ph"] == "M" and e["name"] == "process_name"}
assert len(ranks) == 16 and ranks[3] == "rank 3, SIMULATED on perlmutter", ranks
spans = [e for e in trace["traceEvents"] if e["ph"] == "X"]
assert {e["pid"] for e in spans} == set(range(16)) and {e["ph"] for e in trace["traceEvents"]} == {"M", "X"}
ends = {}
for e in sorted(spans, key=lambda e: (e["pid"], e["tid"], e["ts"])):
    thread = (e["pid"], e["tid"])
    assert thread in names and e["ts"] >= 0 and e["dur"] >= 0, e
    assert e["ts"] >= ends.get(thread, 0) - 1e-6, f"{e} begins before {ends[thread]}"
    ends[thread] = e["ts"] + e["dur"]
assert max(ends.values()) > 0
PYTHON
gnnbench trace --output trace.svg
grep -q 'SIMULATED on perlmutter' trace.svg || fail "a drawn timeline says that it is simulated"

# A paper's table and figure show simulated numbers beside measured ones, named as such, and no ratio of them as ours.
mkdir -p paper
cat >paper/cells.yaml <<'YAML'
name: cells
dataset: {generate: dcsbm, name: paper, vertices: 1000, average_degree: 8, features: 16, classes: 4}
model: {layers: gcn, hidden: [16], activation: relu}
scheme: cagnet-1d
partitioner: random
epochs: 2
warmup: 1
trials: 1
profile: small
profiles:
  small: {gpus: 2, kernel: reference}
  simulated: {matrix: {gpus: [2, 4]}, kernel: {name: simulated, machine: perlmutter}}
YAML
cat >paper/figure.yaml <<'YAML'
title: Epochs
source: Paper, Figure 1
experiments: cells
simulated_on: perlmutter
cell: {metric: epoch_s, unit: ms}
where: {dataset: paper, model.hidden: "16"}
rows: {over: gpus, values: [2, 4]}
columns: [{name: a, where: {scheme: cagnet-1d}}]
plot: {kind: scaling}
YAML
printf 'table,row,column,value,unit,page,verbatim,erratum\ngraphs,paper,vertices,1000,,p. 1,1000,\nfigure,2,a,3,ms,p. 1,3,\nfigure,4,a,2,ms,p. 1,2,\n' >paper/published.csv
gnnbench run paper/cells.yaml --no-verify
expect_code 0 "the measured profile"
gnnbench run paper/cells.yaml --profile simulated
expect_code 0 "the simulated profile"
gnnbench table paper/figure.yaml
expect_text out "profile small: cells-small" "the measured profile stays the table's own"
expect_text out "SIMULATED on perlmutter: predicted by a model, not measured and not verified" "a heading"
expect_text out "SIM. ÷ paper" "a ratio by its name"
refuse_text out "ours ÷ paper" "nothing here is ours in the paper's setting"
gnnbench table paper/figure.yaml --output figure.json
python3 -c 'import json; c = json.load(open("figure.json"))["cells"][1]; assert c["ours"] is None and c["simulated"] > 0' || fail "only simulated on 4"
gnnbench table paper/figure.yaml --profile simulated --output figure.json
python3 -c 'import json; c = json.load(open("figure.json"))["cells"][1]; assert c["ours"] is None and c["simulated"] > 0' || fail "said once"
gnnbench figure paper/figure.yaml --output figure.svg
expect_code 0 "a figure"
for kind in measured published "SIMULATED on perlmutter"; do
    grep -q ">$kind<" figure.svg || fail "a figure's key: $kind"
done

# This machine, measured: its file is read back, and schemes run on it; bad options are told.
gnnbench machine calibrate --output mine.yml
expect_code 2 "a machine file with another ending"
expect_text err "ends in .yaml" "a machine file with another ending"
gnnbench machine calibrate --name "my machine"
expect_code 2 "a name with a blank"
gnnbench machine calibrate --threads 1000
expect_code 2 "more threads than cores"
expect_text err "cannot be two devices of 1000 threads" "more threads than cores"
gnnbench machine calibrate --threads none
expect_code 2 "threads that are no number"
expect_plain_error "threads that are no number"
if [ "$(nproc)" -ge 2 ]; then
    # Each sample of one run in place of the median of seven: the numbers are not used.
    GNNBENCH_CALIBRATION_ROUNDS=1 gnnbench machine calibrate --name here --output here.yaml
    expect_code 0 "calibrate"
    gnnbench machine show here.yaml
    expect_text out "calibrate: axpby, copy and ReLU's gradient" "a calibrated number names its source"
    gnnbench run far.yaml --set 'kernel={name: simulated, machine: here.yaml}' --set 'matrix.gpus=[2]' --set scheme=mg-gcn --set name=calibrated
    expect_code 0 "a run on the calibrated machine"
    expect_value "SELECT count(*) > 0 FROM trials WHERE status = 'ok' AND simulated_on LIKE '%/here.yaml' AND epoch_s > 0" 1 "it predicts"
fi

# Which scheme, grid and partitioner: every candidate is predicted once, kept like any trial, and ranked.
gnnbench tune far.yaml --machine perlmutter --gpus 8 --partitioner random
expect_code 0 "tune"
refuse_text err " trial 1" "tune is quiet unless asked"
expect_text out "on 8 GPUs of perlmutter, SIMULATED" "what is ranked is predicted"
expect_text out "as long:" "tune says why"
expect_text out "gossip-gcn" "independent workers are predicted too"
expect_value "SELECT count(*) FROM trials WHERE experiment = 'far-tune' AND scheme LIKE 'plexus-3d(%' AND status = 'ok'" 10 "every grid of 8"
expect_value "SELECT count(*) FROM trials WHERE experiment = 'far-tune' AND simulated_on = ''" 0 "nothing is measured"
tried=$(ask "SELECT count(*) FROM trial WHERE status = 'ok'")
gnnbench tune far.yaml --machine perlmutter --gpus 8 --partitioner random --json
expect_code 0 "tune again"
expect_value "SELECT count(*) FROM trial WHERE status = 'ok'" "$tried" "what is there is not predicted again"
python3 -c '
import json
cells = json.load(open("out"))
times = [c["epoch_s"] for c in cells if c["status"] == "ok"]
assert times == sorted(times) and [c["place"] for c in cells[:len(times)]] == list(range(1, len(times) + 1))
for c in cells[:len(times)]:
    if c["scheme"].startswith("gossip"):
        continue  # epochs of independent workers overlap
    parts = c["spmm_s"] + c["gemm_s"] + c["communication_s"] + c["rest_s"]
    assert 0.9 * c["epoch_s"] < parts < 1.1 * c["epoch_s"], c
' || fail "tune: not in order of time, or parts that are not the epoch"
sed 's/hidden: .32., //; s/^matrix: {/&model.hidden: [[16], [32]], /' far.yaml >widths.yaml
gnnbench -v tune far.yaml --machine perlmutter --gpus 8 --partitioner random --scheme sa-1d --set seed=3
expect_text err " trial 1" "tune tells of each candidate with -v"
gnnbench tune widths.yaml --machine perlmutter --gpus 8 --partitioner random --scheme sa-1d
expect_code 0 "tune for two widths"
expect_text out "hidden 16 on 8 GPUs" "each width has a ranking of its own"
expect_text out "hidden 32 on 8 GPUs" "each width has a ranking of its own"
gnnbench tune far.yaml --machine perlmuter --gpus 8
expect_code 2 "tune for an unknown machine"
gnnbench tune far.yaml --machine dgx-a100 --gpus 9
expect_code 2 "tune for more ranks than devices"
expect_text err "dgx-a100 has 8 devices; --gpus asks for 9" "tune for more ranks than devices"
gnnbench tune far.yaml --machine perlmutter --gpus 8 --scheme mg-gnc
expect_code 2 "tune an unknown scheme"
expect_text err "there is no scheme 'mg-gnc'" "tune an unknown scheme"

# Ranks of AllReduce-GCN wait for each other at averagings alone, so epochs add up to when the last rank ended.
cat >paces.yaml <<'YAML'
name: paces
dataset: {generate: dcsbm, name: paces, vertices: 800, average_degree: 12, features: 32, classes: 4}
model: {layers: sage, hidden: [32]}
matrix: {scheme: [{name: allreduce-gcn, clusters: 16}, {name: allreduce-gcn, clusters: 16, averaging_interval: 1000}]}
slowdown: {spread: 1}
gpus: 4
partitioner: random
kernel: {name: simulated, machine: dgx-v100}
epochs: 12
warmup: 0
trials: 1
YAML
gnnbench run paces.yaml
expect_code 0 "ranks out of pace"
alone="SELECT c.identity ->> '\$.scheme.params.averaging_interval' AS every, t.id, (SELECT sum(wall_s) FROM epoch e WHERE e.trial_id = t.id)
    AS whole_s, (SELECT max(s) FROM (SELECT sum(wall_s) AS s FROM rank_epoch r WHERE r.trial_id = t.id GROUP BY rank)) AS last_s, (SELECT
    sum(s) FROM (SELECT max(wall_s) AS s FROM rank_epoch r WHERE r.trial_id = t.id GROUP BY epoch)) AS slowest_s, epoch_s FROM trial t
    JOIN cell c ON c.id = t.cell_id JOIN experiment x ON x.id = t.experiment_id WHERE x.name = 'paces'"
expect_value "SELECT count(*) FROM ($alone) WHERE every = 1000 AND abs(whole_s - last_s) < 1e-9 AND whole_s < 0.95 * slowest_s" 1 \
    "epochs that run on add up to the last rank's end"
expect_value "SELECT count(*) FROM ($alone) WHERE every = 1000 AND abs(epoch_s - whole_s / 12) < 1e-9" 1 "the mean of such epochs"
expect_value "SELECT count(*) FROM ($alone) WHERE every = 1 AND abs(whole_s - slowest_s) < 1e-9" 1 "epochs between barriers"
gnnbench run paces.yaml --trace --rerun --where "scheme.averaging_interval = 1000"
expect_code 0 "ranks out of pace, traced"
own="SELECT t.id, abs(e.wall_s - (SELECT max(wall_s) FROM rank_epoch r WHERE r.trial_id = t.id AND r.epoch = 11)) < 1e-9 AS alone FROM ($alone) t
    JOIN epoch e ON e.trial_id = t.id AND e.epoch = 11 WHERE every = 1000"
expect_value "SELECT count(*) FROM ($own) WHERE alone AND id IN (SELECT trial_id FROM span)" 1 "a traced epoch is a run of its own"
expect_value "SELECT count(*) FROM ($own) WHERE NOT alone" 1 "the last epoch of a trial without a trace is not"
