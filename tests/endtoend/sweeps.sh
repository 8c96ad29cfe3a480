#!/usr/bin/env bash
# Choosing cells, retrying, stopping early, several trials at once; then what the results answer.
# shellcheck source=tests/endtoend/lib.sh
source "$(dirname "$0")/lib.sh"
tiny_experiment tiny.yaml

# What cannot be asked for.
gnnbench run tiny.yaml --where "gpu > 1"
expect_code 2 "an unknown field"
expect_text err "did you mean 'gpus'?" "an unknown field"
gnnbench run tiny.yaml --profile small
expect_code 2 "an unknown profile"
gnnbench run tiny.yaml --jobs 0
expect_code 2 "no jobs"
gnnbench query --named fastet
expect_code 2 "an unknown query"
expect_text err "did you mean 'fastest'?" "an unknown query"
gnnbench compare a b
expect_code 2 "a comparison without a database"
gnnbench results list
expect_code 2 "a list without a database"
expect_plain_error "a list without a database"

# Some cells only; a plan tells of all.
gnnbench run tiny.yaml --no-verify --where "scheme = 'serial'"
expect_code 0 "some cells"
expect_value "SELECT count(*) FROM trial WHERE status = 'ok'" 2 "some cells"
gnnbench plan tiny.yaml --only "scheme = 'mg-gcn' AND gpus = 2"
expect_text out "1 cells: 1 to run (2 trials)" "a plan of some cells"
gnnbench plan tiny.yaml
expect_text out "nothing similar was measured" "a plan of what is new"
expect_text out "≥ 0" "a plan tells the least memory"
gnnbench plan tiny.yaml --rerun --where "scheme = 'serial'"
expect_text out "about " "a plan tells time"

# Rows that agree in everything else say what they differ in; so does progress.
cat >models.yaml <<'YAML'
name: models
dataset: {generate: dcsbm, vertices: 300, average_degree: 8, features: 8, classes: 4}
matrix:
  model: [{layers: gcn, hidden: [8]}, {layers: gat, hidden: [8], heads: 2}]
scheme: serial
threads_per_rank: 1
epochs: 2
trials: 1
YAML
gnnbench plan models.yaml
expect_code 0 "a plan of two models"
grep -qE "gpus +heads +layers +memory" out || fail "a plan has a column for each key that varies"
grep -qE "serial +none +1 +2 +gat" out || fail "a plan says how rows differ"
refuse_text out "self_loops|normalisation" "what follows from the layers has no column"
gnnbench --database models.sqlite run models.yaml --no-verify
expect_code 0 "a run of two models"
expect_text err "serial 1 gpu, heads 2, layers gat trial 1" "progress says how cells differ"

# One declared axis of GPUs: the problem grows with them, and tables and figures show the efficiency.
cat >weak.yaml <<'YAML'
name: weak
dataset: {generate: dcsbm, vertices: 300, average_degree: 8, features: 8, classes: 4}
scheme: mg-gcn
scaling: {weak: [1, 2], per: vertices}
partitioner: random
threads_per_rank: 1
epochs: 3
trials: 1
YAML
gnnbench --database weak.sqlite run weak.yaml --no-verify
expect_code 0 "a weak series"
expect_text out " on 1 gpu, vertices × gpus" "a weak series is one section"
expect_text out "weak efficiency" "a weak series has efficiencies"
gnnbench --database weak.sqlite query --csv "SELECT gpus, vertices FROM trials WHERE purpose = 'measure' ORDER BY gpus"
expect_text out "1,300" "the dataset of one GPU"
expect_text out "2,600" "the dataset of two GPUs"
gnnbench --database weak.sqlite table weak --format json
python3 -c '
import json
cells = json.load(open("out"))["cells"]
one, two = sorted(cells, key=lambda c: c["gpus"])
assert one["efficiency"] == 1 and two["efficiency"] == one["epoch_s"] / two["epoch_s"], cells
assert one["dataset"] == two["dataset"] and one["speed_up"] is None, cells
' || fail "a weak series as JSON"
gnnbench --database weak.sqlite figure weak --efficiency --script weak.gp
expect_text weak.gp "weak efficiency" "a weak series' figure"
gnnbench --database weak.sqlite run weak.yaml --no-verify --set name=strong --set 'scaling={strong: [1, 2]}'
expect_code 0 "strong scaling"
expect_text out "parallel efficiency" "strong scaling has efficiencies"

# Two at a time; then nothing is left.
gnnbench run tiny.yaml --jobs 2 --shuffle 7
expect_code 0 "two at a time"
expect_value "SELECT count(*) FROM trial WHERE status = 'ok' AND purpose = 'measure'" 6 "two at a time"
expect_value "SELECT count(*) FROM trial WHERE purpose = 'measure' AND json_type(provenance, '\$.cpus') = 'array'" 4 \
    "trials at a time have cores of their own"
expect_value "SELECT count(*) FROM trial t JOIN cell c ON c.id = t.cell_id JOIN machine m ON m.id = t.machine_id
              WHERE t.purpose = 'measure'
                AND json_array_length(t.provenance, '\$.cpus') <> min(m.cores, c.gpus * c.threads_per_rank)" 0 \
    "as many cores as threads"
expect_value "SELECT count(*) FROM trial a JOIN trial b ON a.id < b.id AND a.started < b.ended AND b.started < a.ended,
              json_each(a.provenance, '\$.cpus') x, json_each(b.provenance, '\$.cpus') y WHERE x.value = y.value" 0 \
    "no core has two trials at a time"
gnnbench run tiny.yaml
expect_text err "nothing to run" "all is there"
[[ -z "$(ls -A gnnbench.sqlite.journals)" ]] || fail "left beside the database: $(ls -A gnnbench.sqlite.journals)"

# A cell that cannot fit.
gnnbench run tiny.yaml --set limits.memory_per_rank=0.000001 --rerun --where "scheme = 'serial'"
expect_text err "needs at least" "a cell that cannot fit"
gnnbench plan tiny.yaml --set limits.memory_per_rank=0.000001 --force
refuse_text out "needs at least" "forced"

# What another build measured is told and, if asked, run again.
sqlite_edit() { python3 - "$1" <<'PY'
import sqlite3, sys
c = sqlite3.connect("gnnbench.sqlite")
c.execute(sys.argv[1])
c.commit()
PY
}
if command -v python3 >/dev/null; then
    sqlite_edit "UPDATE trial SET provenance = json_set(provenance, '$.build', 'older', '$.commit', 'aaaa1111') WHERE number = 0"
    gnnbench plan tiny.yaml
    expect_text out "3 cells hold trials of another build" "another build"
    gnnbench run tiny.yaml --stale
    expect_code 0 "--stale"
    expect_value "SELECT count(*) FROM trial WHERE status = 'ok' AND purpose = 'measure'" 9 "--stale"
    gnnbench run tiny.yaml --stale
    expect_text err "nothing to run" "--stale again"
fi

# Listing, showing, tagging, exporting, importing.
trial="$(ask "SELECT uuid FROM trial WHERE purpose = 'measure' AND status = 'ok' ORDER BY id LIMIT 1")"
gnnbench results show "${trial:0:8}"
expect_code 0 "results show"
expect_text out "phases" "results show"
gnnbench results tag v1 --where "scheme = 'serial'"
expect_code 0 "results tag"
gnnbench results list --tag v1 --csv
expect_text out ",v1" "results list"
gnnbench results export epochs --tag v1 --jsonl --output epochs.jsonl
expect_code 0 "results export"
[[ "$(wc -l <epochs.jsonl)" -ge 8 ]] || fail "results export: $(wc -l <epochs.jsonl) rows"
gnnbench --database merged.sqlite results import gnnbench.sqlite
expect_code 0 "results import"
gnnbench --database merged.sqlite results import gnnbench.sqlite
expect_text err "0 trials taken over" "the same again"
for name in $("$bin/gnnbench" query --list --csv | sed 1d | cut -d, -f1); do
    argument=()
    [[ "$("$bin/gnnbench" query --list --csv | sed -n "s/^$name,//p" | cut -d, -f1)" == "" ]] || argument=("$trial")
    gnnbench query --named "$name" "${argument[@]}"
    expect_code 0 "query --named $name"
done

# SQL: functions of statistics, a limit of time, and a hint where verifications are among what is averaged.
gnnbench query "SELECT scheme, median(epoch_s), percentile(epoch_s, 90), stddev(epoch_s) FROM trials GROUP BY scheme"
expect_code 0 "functions of statistics"
expect_text err "WHERE purpose = 'measure' leaves them out" "an average over verifications"
gnnbench query "SELECT median(epoch_s) FROM trials WHERE purpose = 'measure'"
[[ ! -s err ]] || fail "an average over measured trials: a hint"
gnnbench query --timeout 0.2 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT median(i) FROM n"
expect_code 2 "a query past its limit"
expect_text err "longer than 0.2 s" "a query past its limit"
expect_plain_error "a query past its limit"

# Comparing: too few trials for a verdict, so a gate is unclear.
gnnbench compare "where:scheme = 'serial'" "where:scheme = 'mg-gcn' AND gpus = 1"
expect_code 0 "compare"
expect_text out "UNCLEAR" "compare"
gnnbench gate "where:scheme = 'serial'" "where:scheme = 'mg-gcn' AND gpus = 1"
expect_code 4 "gate"
echo ok
