#!/usr/bin/env bash
# Habits from other tools work, and what does not is answered by what does.
# shellcheck source=tests/endtoend/lib.sh
source "$(dirname "$0")/lib.sh"
tiny_experiment tiny.yaml

# --- what every program answers ---------------------------------------------------------------------------------
gnnbench --version
expect_code 0 "--version"
expect_text out "gnnbench " "--version"
expect_text out "plugin interface" "--version"
gnnbench help
expect_code 0 "help"
expect_text out "Subcommands:" "help"
gnnbench help dataset import
expect_code 0 "help of a command"
expect_text out "Usage: gnnbench dataset import" "help of a command"
gnnbench help rnu
expect_code 2 "help of no command"
expect_text err "did you mean 'run'?" "help of no command"
gnnbench run tiny.yaml --epochs 5
expect_code 2 "a key as an option"
expect_text err "use --set epochs=5" "a key as an option"
gnnbench run tiny.yaml --jobs 0
expect_code 2 "a number that is too small"
expect_text err "expected a number between 1 and 1024; found '0'" "a number that is too small"
gnnbench run tiny.yaml --set kernel=gpu
expect_code 2 "a kernel under another name"
expect_text err "the kernel 'cuda'" "a kernel under another name"
if [[ -z "$(find "$bin/../lib" -name libkernel_cuda.so -print -quit)" ]]; then
    gnnbench run tiny.yaml --set kernel=cuda
    expect_code 2 "a kernel that is not built here"
    expect_text err "the kernel 'cuda' is not built here" "a kernel that is not built here"
    expect_text err "./dev build" "a kernel that is not built here"
fi
gnnbench run tiny.yaml --set gpus=2,4
expect_code 2 "a list without brackets"
expect_text err "gpus: [2, 4]" "a list without brackets"
gnnbench run tiny.yaml --set train.learning_rate=0.1
expect_code 2 "a key under another name"
expect_text err "here that is 'lr'" "a key under another name"

# --- nothing is created by looking, nor by a misspelt path ----------------------------------------------------------
gnnbench run -n tiny.yaml
expect_code 0 "run -n"
expect_text out "to generate: dcsbm-300x8" "run -n says what it would generate"
expect_text out "300 vertices, about 2400 entries" "run -n says what it would generate"
[[ ! -e gnnbench.sqlite && ! -e datasets ]] || fail "run -n created something"
cp out dry
gnnbench plan tiny.yaml
cmp -s dry out || fail "run --dry-run and plan differ"
gnnbench plan tiny.yaml --set dataset.average_degree=400
expect_text out "average_degree 400 asks for 120000 entries" "plan says what cannot be reached"
for argument in --database --data-dir; do
    gnnbench run tiny.yaml "$argument" nowhere/deep/thing
    expect_code 2 "$argument in a folder that is not there"
    expect_text err "mkdir -p nowhere/deep" "$argument in a folder that is not there"
done
gnnbench run tiny.yaml --export nowhere/deep/thing
expect_code 2 "--export into a folder that is not there"
gnnbench run tiny.yaml --tag "two words"
expect_code 2 "a tag that compare could not read"
[[ ! -e nowhere && ! -e gnnbench.sqlite ]] || fail "a refused command created something"

# --- before and after -------------------------------------------------------------------------------------------
gnnbench run tiny.yaml --tag before -q
expect_code 0 "run --tag -q"
[[ ! -s err ]] || fail "-q leaves stderr empty: $(cat err)"
expect_text out "mg-gcn" "-q prints the table"
expect_value "SELECT count(*) FROM tags WHERE tag = 'before'" 6 "every trial is tagged"
gnnbench run tiny.yaml --tag after
expect_code 0 "run --tag with nothing to run"
expect_text err "nothing was measured, so nothing is tagged 'after'" "run --tag with nothing to run"
gnnbench run tiny.yaml --rerun --tag after --where "scheme = 'mg-gcn'" -v
expect_code 0 "run --tag of a rerun"
expect_text err "4 trials tagged 'after'" "run --tag of a rerun"
expect_text err "database $work/gnnbench.sqlite" "-v says where results go"
expect_value "SELECT count(*) FROM tags WHERE tag = 'after'" 4 "only what was measured is tagged"
expect_value "SELECT count(*) FROM tags a JOIN tags b ON b.trial = a.trial WHERE a.tag < b.tag" 0 "no trial is on both sides"
gnnbench compare before after
expect_code 0 "compare before after"
gnnbench run tiny.yaml --set epochs=1 --set scheme=nonsense -q
expect_code 2 "-q keeps messages about what is wrong"
[[ -s err ]] || fail "-q hides an error"

# --- tables that fit --------------------------------------------------------------------------------------------
# widest: the columns of the widest line of out, but for commands to copy, which are never broken.
widest() {
    python3 -c 'import sys; print(max(len(l.rstrip("\n")) for l in open(sys.argv[1], encoding="utf-8")
        if not l.startswith("  gnnbench ")))' "$work/out"
}
if command -v python3 >/dev/null; then
    for columns in 60 80; do
        for command in "table tiny" "plan tiny.yaml" "results list" "doctor" "dataset list" "query --schema" \
            "compare before after"; do
            # shellcheck disable=SC2086 # words of a command
            COLUMNS=$columns gnnbench $command
            [[ -s out ]] || fail "$command printed nothing"
            # A path or a digest is one word, which is never broken; nor is a number, and on a loaded machine an
            # interval may be long.
            [[ "$command" == doctor || ("$command" == table* && $columns -lt 80) || "$(widest)" -le $columns ]] ||
                fail "$command in $columns columns has a line of $(widest)"
        done
    done
    COLUMNS=80 gnnbench query "SELECT * FROM latest WHERE status = 'ok' LIMIT 1"
    expect_text out "epoch_s" "a wide row stands as a block"
fi
gnnbench query --csv "SELECT 0.123456789012345 AS x"
expect_text out "0.123456789012345" "CSV has all digits"
gnnbench query "SELECT 0.123456789012345 AS x"
refuse_text out "0.12345678" "people read rounded numbers"

# --- by name, and by a file's ending ----------------------------------------------------------------------------
gnnbench table tiny --output table.csv
expect_code 0 "a table as CSV"
grep -q "^dataset,\|,epoch_s" table.csv || fail "no CSV: $(head -n 2 table.csv)"
gnnbench table tiny -o table.json
expect_code 0 "a table as JSON"
[[ "$(head -c 1 table.json)" == "{" || "$(head -c 1 table.json)" == "[" ]] || fail "no JSON: $(head -c 100 table.json)"
gnnbench table tiny --output table.xls
expect_code 2 "a table for a spreadsheet program"
expect_text err ".csv" "a table for a spreadsheet program"
gnnbench figure tiny --output scaling.jpg
expect_code 2 "an ending that there is not"
expect_text err ".svg, .png, .pdf; found '.jpg'" "an ending that there is not"
gnnbench figure tiyn
expect_code 2 "an experiment that is not there"
expect_text err "did you mean 'tiny'?" "an experiment that is not there"
if command -v gnuplot >/dev/null; then
    gnnbench figure tiny --output scaling.svg
    expect_code 0 "a scaling plot"
    for text in 'time per epoch' 'mg-gcn' 'ideal: serial' 'GPUs'; do
        grep -q "$text" scaling.svg || fail "no '$text' in the scaling plot"
    done
    gnnbench figure tiny.yaml --output scaling.pdf
    expect_code 0 "a scaling plot as PDF, of an experiment's file"
    [[ "$(head -c 5 scaling.pdf)" == %PDF- ]] || fail "no PDF"
    gnnbench figure --output scaling.png
    expect_code 0 "a scaling plot of what was measured last"
    [[ "$(head -c 4 scaling.png | tail -c 3)" == PNG ]] || fail "no PNG"
    gnnbench report tiny --output report.html
    grep -q 'Time per epoch over GPUs' report.html || fail "the report has no scaling plot"
fi
gnnbench run tiny.yaml --rerun --trace --where "gpus = 2"
gnnbench trace tiny --output epoch.json
expect_code 0 "a timeline of an experiment by its name"
grep -q traceEvents epoch.json || fail "no timeline"

# --- a project's database and datasets are found from below its root, and named ---------------------------------
mkdir -p experiments/deep
cp tiny.yaml experiments/deep/
cd experiments/deep
gnnbench table tiny
expect_code 0 "a table from below the project's root"
expect_text out "mg-gcn" "a table from below the project's root"
gnnbench dataset list
expect_text out "dcsbm-300x8" "datasets from below the project's root"
gnnbench run tiny.yaml
expect_code 0 "a run from below the project's root"
expect_text err "results are in $work/gnnbench.sqlite" "a run names the database elsewhere"
expect_text err "datasets are in $work/datasets" "a run names the datasets elsewhere"
expect_text err "nothing to run" "what is there counts"
[[ ! -e gnnbench.sqlite && ! -e datasets ]] || fail "a run below the project's root made places of its own"
gnnbench dataset info nope
expect_text err "in $work/datasets" "a dataset that is not there: where it was looked for"
[[ "$("$bin/gnnbench" __complete figure ti)" == *tiny* ]] || fail "an experiment's name is completed from below"
cd "$work"
mkdir -p fresh/below
: >fresh/gnnbench.sqlite
cd fresh/below
gnnbench results list
refuse_text out "tiny" "a nearer database counts"
gnnbench --database "$work/gnnbench.sqlite" results list
expect_text out "tiny" "--database counts before what is near"
cd "$work"
rm -rf fresh

# --- what shells complete ---------------------------------------------------------------------------------------
complete_line() { "$bin/gnnbench" __complete "$@"; }
[[ "$(complete_line figure ti)" == *tiny* ]] || fail "an experiment's name is completed"
[[ "$(complete_line plugin info mg)" == mg-gcn ]] || fail "a plugin's name is completed"
dataset="$(complete_line dataset info dcsbm | head -n 1)"
gnnbench dataset info "$dataset"
cp out info
gnnbench dataset show "$dataset"
expect_code 0 "dataset show"
cmp -s info out || fail "dataset show and dataset info differ"
[[ "$(complete_line dataset info dcsbm)" == dcsbm-300x8* ]] || fail "a dataset's name is completed"
[[ "$(complete_line compare be)" == before ]] || fail "a tag is completed"
[[ "$(complete_line run '')" == :files ]] || fail "an experiment's file is completed"

# --- plugins in each other's way, MPI and disks -----------------------------------------------------------------
gnnbench plugin info random
own="$(sed -n 3p out)"
mkdir plugins
cp "$own" plugins/
for command in "plugin list" doctor; do
    # shellcheck disable=SC2086 # words of a command
    GNNBENCH_PLUGIN_PATH="$work/plugins" gnnbench $command
    cat out err >both
    grep -qF "$work/plugins/$(basename "$own") is used" both || fail "$command does not say what shadows a built-in"
done
gnnbench doctor
expect_code 0 "doctor"
expect_text out "2 ranks exchanged messages" "doctor tries mpiexec"
mkdir disk
if mount -t tmpfs -o size=2m tmpfs disk 2>/dev/null; then
    # shellcheck disable=SC2016,SC2034 # for the trap of lib.sh
    cleanup=(eval 'umount -l disk; rm -rf "$work"')
    gnnbench doctor --database disk/results.sqlite
    expect_code 5 "doctor on a small disk"
    expect_text out "nearly full" "doctor on a small disk"
fi
echo ok
