#!/usr/bin/env bash
# The way of an experiment: plan, run, a second run that runs nothing, what is removed runs again, verify, query.
# shellcheck source=tests/endtoend/lib.sh
source "$(dirname "$0")/lib.sh"
tiny_experiment tiny.yaml

gnnbench validate tiny.yaml
expect_code 0 "a valid experiment"
gnnbench plan tiny.yaml
expect_code 0 "plan before anything ran"
expect_text out "4 cells: 3 to run (6 trials), 0 present, 1 skipped" "plan before anything ran"
expect_text out "2 ranks given" "why serial on two ranks is skipped"
[[ ! -e gnnbench.sqlite && ! -e datasets ]] || fail "plan made something"

gnnbench run tiny.yaml
expect_code 0 "the first run"
expect_text err "6 trials run" "the first run"
expect_text err "verified" "new combinations are verified"
expect_value "SELECT count(*) FROM trial WHERE purpose = 'measure' AND status = 'ok'" 6 "trials of the first run"
expect_value "SELECT count(*) FROM trial WHERE purpose = 'verify' AND status = 'ok'" 3 "verifications"
expect_value "SELECT count(*) FROM verification v JOIN trial t ON t.id = v.trial_id WHERE purpose = 'measure'
    AND v.status = 'verified' AND json_extract(checks, '$.checks.\"late-update\".calls') > 0" 3 "a step after one trial of each"
expect_value "SELECT count(*) FROM verification WHERE json_extract(checks, '$.float64_kernel') = 'cpu' AND json_extract(checks, '$.float64_error') < 1e-10" \
    3 "float64 runs on the cell's own kernel"
verified_at="(SELECT min(v.id) FROM trial v WHERE v.purpose = 'verify' AND v.verification_key = t.verification_key)"
expect_value "SELECT count(*) FROM trial t WHERE t.purpose = 'measure' AND t.status = 'ok' AND NOT t.id > $verified_at" 0 \
    "a combination is verified before its first trial"
expect_value "SELECT count(*) FROM trial t WHERE t.purpose = 'measure' AND t.status = 'ok' AND t.number = 0 AND t.id <> $verified_at + 1" \
    0 "and just before it, so that first times come early"
expect_value "SELECT count(*) FROM trial WHERE status = 'skipped'" 1 "the skipped cell is a row"
expect_value "SELECT count(*) FROM epoch e JOIN trial t ON t.id = e.trial_id WHERE t.purpose = 'measure'" 24 \
    "epochs: six trials of one warm-up and three measured ones"
expect_value "SELECT count(*) FROM trial_rank r JOIN trial t ON t.id = r.trial_id WHERE t.purpose = 'measure' AND memory_bytes = stated_memory_bytes" \
    8 "ranks that hold what their scheme states: two trials each of serial, and of mg-gcn on one rank and on two"
[[ -z "$(ls gnnbench.sqlite.journals)" ]] || fail "journals are left: $(ls gnnbench.sqlite.journals)"

gnnbench run tiny.yaml
expect_code 0 "the second run"
expect_text err "nothing to run; 6 trials there already" "the second run"
expect_value "SELECT count(*) FROM trial" 10 "the second run adds no row"
gnnbench plan tiny.yaml
expect_text out "0 to run (0 trials), 3 present, 1 skipped" "plan afterwards"

# Verifications belong to the chosen trials by their keys; each trial has one that decides about it.
gnnbench results export verifications --experiment tiny
expect_code 0 "the experiment's verifications"
[[ "$(tail -n +2 out | wc -l)" -eq 6 ]] || fail "an export has $(tail -n +2 out | wc -l) of 6 verifications: $(cat out)"
# One serves cells that differ in what it does not depend on, such as seeds: an export of either has it.
gnnbench --database seeds.sqlite run tiny.yaml --set trials=1 --set gpus=1 --set scheme=serial --set 'seed=[1, 2]'
expect_code 0 "a run of two seeds"
for seed in 1 2; do
    gnnbench --database seeds.sqlite results export verifications --where "cell.seed = $seed"
    [[ "$(tail -n +2 out | wc -l)" -eq 2 ]] || fail "seed $seed has $(tail -n +2 out | wc -l) of 2 verifications: $(cat out)"
done
gnnbench results show "$(ask "SELECT trial FROM trials WHERE purpose = 'measure' AND status = 'ok' LIMIT 1")" --json
expect_text out '"float64_kernel": "cpu"' "a trial is shown with its combination's verification, not with its late step"
gnnbench query --named epochs zzz
expect_code 2 "a named query about a trial that is not there"
expect_text err "there is no trial 'zzz'" "a named query about a trial that is not there"

# An interrupted trial, and one that is not there, are due again.
gnnbench run tiny.yaml --set trials=3
expect_code 0 "one more trial for each cell"
expect_text err "3 trials run; 6 trials there already" "one more trial for each cell"
gnnbench run tiny.yaml --rerun --set gpus=1 --set scheme=serial --no-verify
expect_code 0 "--rerun"
expect_text err "2 trials run" "--rerun runs what is there"

mkdir -p experiments/own
cp tiny.yaml experiments/own/named.yaml
gnnbench verify own/named
expect_code 0 "verify an experiment by its name"
expect_text out "verified" "verify prints its table"
gnnbench verify tiny.yaml --json --where "scheme = 'serial'"
expect_code 0 "verify --json --where"
refuse_text out '"scheme": "(cagnet|mg)' "verify --where"
expect_text out '"volume_equal": true' "verify --json"
# One that finds nothing is told as that, though an earlier one has verified the cell.
sed -e 's/^name: .*/name: larger/' -e 's/vertices: [0-9]*/vertices: 40000/' -e 's/features: 8/features: 64/' tiny.yaml >larger.yaml
gnnbench verify larger.yaml --where "scheme = 'mg-gcn' AND gpus = 1"
expect_code 0 "a verification that has time"
gnnbench verify larger.yaml --json --where "scheme = 'mg-gcn' AND gpus = 1" --set limits.verify_timeout=0.2
expect_code 1 "a verification that has no time"
expect_text out "its verification ended as timeout" "a verification that has no time"

gnnbench run tiny.yaml --rerun --set trials=1 --set gpus=2 --set scheme=mg-gcn --export exported
expect_code 0 "--export"
[[ -n "$(find exported -name W0.npy)" && -n "$(find exported -name embeddings.npy)" ]] ||
    fail "--export wrote: $(find exported)"

# What the first epochs chose is known at the end, and kept; ranks may choose differently.
gnnbench run tiny.yaml --set trials=1 --set gpus=2 --set 'scheme={name: plexus-3d, gemm_tuning: true}' --no-verify
expect_code 0 "a run that tunes itself"
expect_value "SELECT count(*) FROM trials WHERE notes LIKE '%dW products: layer 0 %' AND notes NOT LIKE '%not tuned yet%'" 1 \
    "the choice of a run that tunes itself"

# Two at once share the work: no trial runs twice, both end well.
export GNNBENCH_DATABASE=shared.sqlite
"$bin/gnnbench" run tiny.yaml >other.out 2>other.err &
gnnbench run tiny.yaml
expect_code 0 "one of two at once"
wait $! || fail "the other of two at once: $(cat other.err)"
expect_value "SELECT count(*) FROM trial WHERE purpose = 'measure' AND status = 'ok'" 6 "trials of two at once"
# Eight at once: each verifies what none has verified yet, so nothing is verified twice.
export GNNBENCH_DATABASE=eight.sqlite
hosts=()
for i in 1 2 3 4 5 6 7 8; do
    "$bin/gnnbench" run tiny.yaml --set trials=1 >"eight.out.$i" 2>"eight.err.$i" &
    hosts+=($!)
done
for i in "${!hosts[@]}"; do wait "${hosts[$i]}" || fail "host $((i + 1)) of eight at once: $(cat "eight.err.$((i + 1))")"; done
expect_value "SELECT count(*) FROM trial WHERE purpose = 'verify'" 3 "verifications of eight at once"
expect_value "SELECT count(*) FROM trial WHERE purpose = 'measure' AND status = 'ok'" 3 "trials of eight at once"
unset GNNBENCH_DATABASE

gnnbench query "SELECT count(*) AS trials FROM trial" --json
expect_code 0 "query"
expect_text out '"trials"' "query --json"
gnnbench query "DELETE FROM trial"
expect_code 2 "a query that would change something"
expect_plain_error "a query that would change something"
gnnbench plan tiny.yaml --json
expect_text out '"verdict": "present"' "plan --json"
gnnbench dataset list --json
expect_text out '"vertices": 300' "dataset list"

# Tiles beside the rows: the same dataset, and the same cells.
folders=(datasets/*/)
tiles_of="$(basename "${folders[0]}")"
gnnbench dataset shard "$tiles_of" --tiles 3
expect_code 2 "tiles in one direction"
expect_text err "--tiles expects DOWNxACROSS, two numbers from 1 to 4096; found '3'" "tiles in one direction"
gnnbench dataset shard "$tiles_of" --tiles 0x5
expect_code 2 "no tiles"
gnnbench dataset shard "$tiles_of" --tiles 3x5
expect_code 0 "dataset shard"
expect_text out "3 × 5" "dataset shard"
gnnbench plan tiny.yaml
expect_text out " 0 to run" "a dataset in tiles has the cells that it had"
gnnbench dataset shard "$tiles_of" --tiles 1x1 --json
expect_code 0 "tiles removed"
expect_text out '"tiles": []' "tiles removed"
[[ -z "$(find "datasets/$tiles_of" -name 'tiles-*')" ]] || fail "removed tiles are still there"

# Degrees and clustering wanted beside reached, and a dataset like a measured one.
gnnbench dataset generate bter --name tiny-bter --set vertices=500 average_degree=8
expect_text out "Kolmogorov-Smirnov distance 0" "a generator's report"
gnnbench dataset profile tiny-bter
cp out tiny-profile.json
gnnbench dataset generate like --set profile_file=tiny-profile.json scale=2 features=3 --json
expect_text out '"vertices": 1000' "twice a measured dataset"
gnnbench dataset profiles
expect_text out "amazon0601" "profiles that come with the program"
# A folder: its experiments in the order of their names, its tables left out; where one cannot be read, the others run.
mkdir folder
sed 's/^name: .*/name: first/' tiny.yaml >folder/a.yaml
sed 's/^name: .*/name: second/' tiny.yaml >folder/b.yaml
printf 'title: a table\ncolumns: []\n' >folder/table.yaml
gnnbench plan folder
expect_code 0 "a folder's plan"
expect_text out "folder/b.yaml:" "a folder's plan"
gnnbench run folder --where "scheme = 'serial'" --set trials=1
expect_code 0 "a folder"
expect_text err "experiment 2 of 2: folder/b.yaml" "a folder"
expect_value "SELECT count(*) FROM experiment WHERE name IN ('first', 'second')" 2 "both experiments of a folder"
sed 's/^name: .*/name: third\nseed: 7/' tiny.yaml >folder/c.yaml
echo "oops: 1" >>folder/b.yaml
gnnbench plan folder
expect_code 2 "the plan of a folder with a bad file"
expect_text out "folder/c.yaml:" "the plan of a folder with a bad file"
expect_text err "1 of 3 experiments cannot be read and was left out: folder/b.yaml" "a plan names the bad file"
gnnbench run folder --where "scheme = 'serial'" --set trials=1
expect_code 2 "a folder with a bad file"
expect_text err "folder/b.yaml:13:1: oops: unknown key" "the bad file's error"
expect_text err "1 of 3 experiments cannot be read and was left out: folder/b.yaml" "the bad file is named"
[[ "$(tail -n 1 err)" == *folder/b.yaml ]] || fail "it is named at the end, where it is seen"
expect_value "SELECT count(*) FROM trials WHERE experiment = 'third' AND status = 'ok'" 1 "the others run"
# What fits no file is the command's error, and no file's.
gnnbench run folder --where "nonsense = 1"
expect_code 2 "a folder and an expression that cannot be"
refuse_text err "cannot be read" "a folder and an expression that cannot be"
echo "oops: 1" >>folder/a.yaml
echo "oops: 1" >>folder/c.yaml
gnnbench run folder
expect_code 2 "a folder of bad files"
expect_text err "3 of 3 experiments cannot be read" "a folder of bad files"
# validate takes files and folders, and what is below these.
mkdir -p folder/below
cp tiny.yaml folder/below/deep.yaml
printf 'title: [half\n' >folder/below/broken.yaml
gnnbench validate folder tiny.yaml
expect_code 2 "validate a folder and a file"
expect_text out "folder/below/deep.yaml: valid, 4 cells" "validate reads folders in folders"
expect_text out "tiny.yaml: valid, 4 cells of 2 trials" "validate goes on after a bad file"
expect_text err "folder/a.yaml:13:1: oops" "validate names what is wrong"
expect_text err "folder/below/broken.yaml" "validate names what is wrong below"
expect_text err "5 of 7 files are not valid" "validate counts"
gnnbench validate folder/below/deep.yaml tiny.yaml --json
expect_code 0 "validate several files as JSON"
python3 -c 'import json; a = json.load(open("out")); assert [f["valid"] for f in a] == [True, True], a' || fail "validate --json"
mkdir empty
gnnbench run empty
expect_code 2 "an empty folder"
expect_text err "no experiment in this folder" "an empty folder"
echo ok
