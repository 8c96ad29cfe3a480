#!/usr/bin/env bash
# Partitions in trials: their volume is what the report says, the order of partitioners is as the model has it, they are
# kept from one trial to the next, and what goes wrong with them ends a trial as it should.
# shellcheck source=tests/endtoend/lib.sh
source "$(dirname "$0")/lib.sh"
# `./dev nightly ranks` asks for 4 and 8.
read -ra counts <<<"${GNNBENCH_PARTITION_RANKS:-4}"
cat >volumes.yaml <<YAML
name: volumes
dataset: {generate: dcsbm, vertices: 4000, average_degree: 12, communities: 40, features: 8, classes: 8}
model: {layers: gcn, hidden: [8], activation: relu}
matrix:
  scheme: [sa-1d, demirci-p2p]
  partitioner:
    - {name: hypergraph}
    - {name: metis, weights: nonzeros}
    - {name: random}
    - {name: random, order: rcm}
  gpus: [$(IFS=,; echo "${counts[*]}")]
kernel: cpu
threads_per_rank: 1
epochs: 1
warmup: 0
trials: 1
YAML
gnnbench run volumes.yaml
expect_code 0 "two schemes on four partitions"
expect_text out "random(order=rcm)" "the table tells orders apart"
expect_value "SELECT count(*) FROM verification WHERE status != 'verified'" 0 "every order and partition is verified"
not_as_stated="SELECT count(*) FROM trials WHERE purpose = 'measure' AND status <> 'skipped' AND volume_as_stated IS NOT 1"
expect_value "$not_as_stated" 0 "volumes are as stated"

# Bytes that halos took in the epoch: two products forward and two backward, all of 8 columns of 4 bytes, and each moves λ−1
# rows, as the graph is undirected. So bytes ÷ 128 is the connectivity that the record has, which the report has, too.
halo_bytes() { # SCHEME GPUS PARTITIONER [EXPERIMENT]
    ask "SELECT sum(v.sent_bytes) FROM rank_volume v JOIN trial t ON t.id = v.trial_id JOIN cell c ON c.id = t.cell_id
         WHERE t.purpose = 'measure' AND c.scheme = '$1' AND c.gpus = $2 AND c.partitioner_label = '$3'
         AND t.experiment_id = (SELECT id FROM experiment WHERE name = '${4:-volumes}')
         AND v.content = 'payload' AND v.operation IN ('point-to-point', 'all-to-all')"
}
recorded() {
    ask "SELECT DISTINCT connectivity_minus_one FROM trials WHERE purpose = 'measure' AND gpus = $1 AND partitioner = '$2'"
}
name="$(ask "SELECT dataset FROM cell")"
for gpus in "${counts[@]}"; do
    for partitioner in hypergraph metis random; do
        label="${partitioner/metis/metis(weights=nonzeros)}"
        settings=()
        [[ $partitioner == metis ]] && settings=(--set weights=nonzeros)
        gnnbench partition "$name" --parts "$gpus" --partitioner $partitioner "${settings[@]}" --json
        expect_code 0 "$partitioner's report"
        cut="$(recorded "$gpus" "$label")"
        expect_text out "\"connectivity_minus_one\": $cut," "$partitioner at $gpus: the report and the record"
        for scheme in sa-1d demirci-p2p; do
            [[ "$(halo_bytes $scheme "$gpus" "$label")" == $((128 * cut)) ]] ||
                fail "$scheme at $gpus on $label: expected 128 × $cut bytes, found $(halo_bytes $scheme "$gpus" "$label")"
        done
    done
    hypergraph="$(recorded "$gpus" hypergraph)" metis="$(recorded "$gpus" 'metis(weights=nonzeros)')" random="$(recorded "$gpus" random)"
    ((hypergraph > 0 && hypergraph <= metis && metis <= random)) ||
        fail "at $gpus: expected hypergraph ≤ metis ≤ random; found $hypergraph, $metis, $random"
    [[ "$(halo_bytes sa-1d "$gpus" random)" == "$(halo_bytes sa-1d "$gpus" 'random(order=rcm)')" ]] ||
        fail "at $gpus: an order inside parts changes the volume"
done

# On a directed graph the backward product moves other rows than the forward one. Bytes ÷ 64 are both together, which nets
# of both lower.
cat >directed.yaml <<'YAML'
name: directed
dataset: {generate: dcsbm, vertices: 3000, average_degree: 6, communities: 60, directed: true, features: 8, classes: 8}
model: {layers: gcn, hidden: [8], activation: relu}
matrix:
  scheme: [sa-1d, demirci-p2p]
  partitioner: [{name: hypergraph}, {name: hypergraph, nets: both}]
gpus: 4
kernel: cpu
threads_per_rank: 1
epochs: 1
warmup: 0
trials: 1
YAML
gnnbench run directed.yaml --no-verify
expect_code 0 "nets of columns and of both on a directed graph"
expect_value "$not_as_stated" 0 "volumes are as stated"
name="$(ask "SELECT c.dataset FROM cell c JOIN trial t ON t.cell_id = c.id JOIN experiment x ON x.id = t.experiment_id WHERE x.name = 'directed'")"
declare -A products
for nets in columns both; do
    gnnbench partition "$name" --parts 4 --with hypergraph --set nets=$nets --json
    expect_code 0 "the report of nets of $nets"
    forward="$(sed -n 's/.*"connectivity_minus_one": \([0-9]*\).*/\1/p' out)"
    backward="$(sed -n 's/.*"backward_connectivity_minus_one": \([0-9]*\).*/\1/p' out)"
    products[$nets]=$((forward + backward))
    label=hypergraph
    [[ $nets == columns ]] || label="hypergraph(nets=$nets)"
    for scheme in sa-1d demirci-p2p; do
        [[ "$(halo_bytes $scheme 4 "$label" directed)" == $((64 * products[$nets])) ]] ||
            fail "$scheme on $label: expected 64 × ($forward + $backward) bytes, found $(halo_bytes $scheme 4 "$label" directed)"
    done
done
((products[both] < products[columns])) ||
    fail "expected nets of both to move less in both products; found ${products[both]} and ${products[columns]}"

# A partition that takes long is made once: a program that says how often it was called, and what it gives.
cat >slow-parts <<'SH'
#!/bin/sh
echo called >>"$0.calls"
sleep 0.3
read -r n _ <"$1"
awk -v n="$n" -v k="$2" 'BEGIN { for (v = 0; v < n; ++v) print int(v * k / n) }' >"$1.part.$2"
SH
chmod +x slow-parts
cat >kept.yaml <<'YAML'
name: kept
dataset: {generate: dcsbm, vertices: 300, average_degree: 8, features: 8, classes: 4}
model: {layers: gcn, hidden: [8], activation: relu}
matrix: {scheme: [sa-1d, demirci-p2p]}
partitioner: {name: command, program: slow-parts}
gpus: 2
kernel: cpu
threads_per_rank: 1
epochs: 1
warmup: 0
trials: 2
YAML
calls() { wc -l <slow-parts.calls; }
gnnbench plan kept.yaml --json
expect_text out '"partition_kept": null' "a plan on a dataset that is not there yet"
gnnbench run kept.yaml
expect_code 0 "four trials and two verifications of one partition"
[[ "$(calls)" == 2 ]] || fail "expected one partition for six trials, and once more to compare; found $(calls)"
expect_value "SELECT count(*) FROM trials WHERE purpose = 'measure' AND experiment = 'kept' AND partition_s >= 0.3" 4 \
    "a kept partition's time is that of making it"
expect_value "SELECT count(*) FROM trials WHERE purpose = 'measure' AND experiment = 'kept' AND notes LIKE 'partition: kept%'" 4 \
    "notes say so"
gnnbench plan kept.yaml --rerun --json
expect_text out '"partition_kept": true' "a plan with a kept partition"
gnnbench plan kept.yaml --rerun --memory --json
expect_code 0 "a plan that asks the schemes what they hold"
python3 - out <<'PY' || fail "plan --memory: not what the trials' ranks held"
import json, sys
cells = json.load(open(sys.argv[1]))["cells"]
assert len(cells) == 2 and all(0 < c["peak_memory_bytes"] == c["stated_memory_bytes"] for c in cells), cells
PY
gnnbench plan kept.yaml --rerun
expect_text out "2 of them on partitions that are kept" "a plan with a kept partition"
# Damaged files count as not there; another program is another partition.
for file in datasets/.partitions/*.partition; do printf x | dd of="$file" bs=1 seek=100 conv=notrunc status=none; done
gnnbench run kept.yaml --rerun --where "scheme = 'sa-1d'" --set trials=1
expect_code 0 "a damaged partition"
(($(calls) == 3 || $(calls) == 4)) || fail "a damaged partition: expected another call; found $(calls) in all"
before="$(calls)"
echo '# changed' >>slow-parts
gnnbench run kept.yaml --no-verify --where "scheme = 'sa-1d'" --set trials=1
[[ "$(calls)" == $((before + 1)) ]] || fail "a changed program: expected another cell and another partition"

# METIS and others cannot be interrupted: the trial's time limit ends them, with what they started.
printf '#!/bin/sh\nexec sleep 100\n' >sleeps && chmod +x sleeps
gnnbench run kept.yaml --no-verify --where "scheme = 'sa-1d'" --set trials=1 --set limits.trial_timeout=2 \
    --set 'partitioner={name: command, program: sleeps}'
expect_code 1 "a partitioner that does not end"
expect_value "SELECT status FROM trials ORDER BY started DESC LIMIT 1" timeout "a partitioner that does not end"
expect_no_processes 5 "a partitioner that does not end"
echo 0 1 0 1 >four.part
gnnbench run kept.yaml --no-verify --where "scheme = 'sa-1d'" --set trials=1 \
    --set 'partitioner={name: file, path: four.part}'
expect_code 1 "parts of another graph"
expect_value "SELECT reason LIKE '%four.part has the parts of 4 vertices; the graph has 300%' FROM trials ORDER BY started DESC LIMIT 1" \
    1 "parts of another graph"
gnnbench plan kept.yaml --set 'partitioner={name: file, path: five.part}'
expect_code 2 "a part file that is not there"
expect_text err "there is no file or folder" "a part file that is not there"
expect_plain_error "a part file that is not there"

# --- a partition that deals edges, and one that deals vertices -------------------------------------------------------
gnnbench run kept.yaml --set "matrix.scheme=[sa-1d, distgnn]" --set partitioner=libra --set name=cuts
expect_value "SELECT group_concat(scheme || ' ' || status, '; ') FROM (SELECT DISTINCT scheme, status FROM trials WHERE
              purpose = 'measure' AND experiment = 'cuts' ORDER BY scheme)" "distgnn ok; sa-1d skipped" "an edge cut needed"
expect_value "SELECT DISTINCT reason LIKE '%libra%needs each vertex in one part' FROM trials WHERE status = 'skipped' AND
              experiment = 'cuts'" 1 "an edge cut needed"
expect_value "SELECT DISTINCT connectivity_minus_one > 0 AND edge_cut = 0 FROM trials WHERE status = 'ok' AND experiment = 'cuts'
              AND purpose = 'measure'" 1 "a vertex cut"
gnnbench run kept.yaml --set "matrix.scheme=[distgnn]" --set partitioner=metis --set name=cuts2
expect_value "SELECT DISTINCT reason LIKE '%metis%needs a vertex cut, which deals edges, as libra does' FROM trials WHERE
              status = 'skipped' AND experiment = 'cuts2'" 1 "a vertex cut needed"
gnnbench plan kept.yaml --set "matrix.scheme=[distgnn]" --set partitioner=libra --memory --json
expect_code 0 "a plan that asks what copies take"
dataset="$(ask "SELECT DISTINCT dataset FROM trials WHERE experiment = 'cuts'")"
gnnbench partition "$dataset" --parts 3 --with libra --json
expect_text out '"replication_factor": 1.' "copies of vertices"
gnnbench partition "$dataset" --parts 3 --with libra --output parts.npy
expect_code 2 "a vertex cut as parts of vertices"
expect_text err "libra deals edges to parts" "a vertex cut as parts of vertices"
echo ok
