#!/usr/bin/env bash
# A program as a scheme: measured and verified beside a scheme of ours, and each way in which it can go wrong.
# shellcheck source=tests/endtoend/lib.sh
source "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || { echo "skipped: this machine has no python3"; exit 0; }
cp "$(dirname "$0")/standin_program.py" .
unset OPENBLAS_CORETYPE # a worker sets it for itself; the program ends where it finds it

# experiment FILE SCHEMES
experiment() {
    cat >"$1" <<YAML
name: ${1%.yaml}
dataset: {generate: dcsbm, vertices: 60, average_degree: 4, features: 6, classes: 3}
model: {layers: gcn, hidden: []}
train: {optimizer: sgd, lr: 0.1}
matrix: {scheme: [$2]}
kernel: cpu
threads_per_rank: 1
warmup: 1
epochs: 4
trials: 2
limits: {trial_timeout: 120}
YAML
}

# What cannot be meant is told before anything runs.
complains() {
    experiment wrong.yaml "$1"
    gnnbench validate wrong.yaml
    expect_code 2 "$1"
    expect_text err "$2" "$1"
    expect_plain_error "$1"
}
complains '{command: []}' "found an empty list"
complains '{command: [./standin_program.py, {}]}' "expected a command"
complains '{command: ./standin_program.py, name: serial}' "there is a scheme 'serial' already"
complains '{command: ./standin_program.py, name: "a b"}' "expected letters"
complains '{command: ./standin_program.py, shell: true}' "no parameter 'shell'"

# Looking starts nothing; a run starts what it was told that it may.
cat >marking.sh <<'SH'
#!/bin/sh
touch "$MARK"
exit 1
SH
chmod +x marking.sh
export MARK="$work/mark"
experiment marking.yaml '{command: [./marking.sh], name: marking}'
sed 's/matrix:.*/scheme: {name: mg-gcn}\npartitioner: {name: command, program: .\/marking.sh}\ngpus: 2/' marking.yaml >parts.yaml
unset GNNBENCH_ALLOW_PROGRAMS
for words in 'validate marking.yaml' 'plan marking.yaml' 'plan --json marking.yaml' 'run -n marking.yaml' \
    'plan --memory parts.yaml' 'tune parts.yaml --machine perlmutter --gpus 2'; do
    # shellcheck disable=SC2086 # words
    gnnbench $words
    expect_code 0 "$words"
    [[ ! -e mark ]] || fail "$words started the program"
done
expect_text out "--allow-programs" "a partitioner that tune leaves out"
gnnbench plan marking.yaml
expect_text out "run starts ./marking.sh" "what a plan says of programs"
for words in 'run marking.yaml' 'verify marking.yaml' 'run parts.yaml'; do
    # shellcheck disable=SC2086 # words
    gnnbench $words </dev/null
    expect_code 2 "$words without a terminal"
    expect_text err "--allow-programs" "the way out of $words"
    expect_text err "marking.sh" "the program of $words"
    [[ ! -e mark ]] || fail "$words started the program"
done
# answered ANSWER ARGUMENT …: on a terminal.
answered() {
    code=0
    printf '%s\n' "$1" | script -qec "$bin/gnnbench ${*:2}" /dev/null >"$work/out" 2>"$work/err" || code=$?
}
if command -v script >/dev/null; then
    answered n run marking.yaml
    expect_code 2 "the answer no"
    expect_text out "Start it?" "the question"
    [[ ! -e mark ]] || fail "no started the program"
    answered y run marking.yaml
    expect_code 0 "the answer yes"
    [[ -e mark ]] || fail "yes did not start the program"
else
    gnnbench run --allow-programs marking.yaml
    expect_code 0 "an allowed program"
fi
rm -f mark
gnnbench run marking.yaml </dev/null
expect_code 0 "a program allowed earlier"
[[ -e mark && "$(stat -c %a config/gnnbench/allowed-programs)" == 600 ]] || fail "what was allowed is not remembered"
echo "# changed" >>marking.sh
gnnbench run marking.yaml </dev/null
expect_code 2 "a program that changed since it was allowed"
gnnbench run --allow-programs marking.yaml </dev/null
expect_code 0 "a changed program that is allowed"
rm -rf mark gnnbench.sqlite*
export GNNBENCH_ALLOW_PROGRAMS=1

# Beside ours: both verified, the same losses, what the program says of itself.
experiment both.yaml 'serial, {command: [./standin_program.py, none], name: standin}'
gnnbench run both.yaml
expect_code 0 "a program beside serial"
verified="SELECT count(*) FROM verification v JOIN trial t ON t.id = v.trial_id WHERE v.status = 'verified'"
expect_value "$verified AND purpose = 'verify'" 2 "both are verified"
expect_value "$verified AND purpose = 'measure'" 1 "a step after the first measured trial of serial"
expect_value "SELECT count(*) FROM trial WHERE status = 'ok' AND purpose = 'measure'" 4 "two trials of each"
expect_value "SELECT count(*) FROM epoch JOIN trial t ON t.id = trial_id JOIN cell c ON c.id = cell_id WHERE scheme = 'standin' AND epoch.warmup" 2 "warm-up epochs"
expect_value "SELECT max(abs(a.loss - b.loss)) < 1e-5 FROM epoch a JOIN epoch b USING (epoch)" 1 "the losses"
expect_value "SELECT device FROM trial t JOIN cell c ON c.id = t.cell_id WHERE scheme = 'standin' AND purpose = 'measure'" \
    "a stand-in's CPU" "its device"
expect_value "SELECT notes FROM trial t JOIN cell c ON c.id = t.cell_id WHERE scheme = 'standin' AND purpose = 'measure'" "stand-in 1.0" \
    "its versions"
expect_value "SELECT count(DISTINCT phase) FROM rank_phase JOIN trial t ON t.id = trial_id JOIN cell c ON c.id = cell_id WHERE scheme = 'standin'" 2 "its phases"
gnnbench table both
expect_text out "losses of five epochs" "what verifies a program"
gnnbench run both.yaml
expect_text err "4 trials there already" "a second run"

# A changed program is another cell.
echo "# changed" >>standin_program.py
gnnbench plan --json both.yaml
expect_text out '"verdict": "run"' "a changed program"

# Where it cannot run, its cell is skipped and the others are not.
experiment absent.yaml 'serial, {command: [./standin_program.py, absent], name: standin}, {command: ./no-such, name: missing}'
gnnbench run absent.yaml
expect_code 0 "absent programs"
expect_text err "program standin: the package numpy is not installed" "an absent package"
expect_text err "there is no executable program" "a missing program"
expect_value "SELECT count(*) FROM trial WHERE status = 'skipped'" 2 "both are skipped"

# Losses that are not the reference's: found before anything is timed.
experiment lies.yaml '{command: [./standin_program.py, wrong], name: standin}'
gnnbench run lies.yaml
expect_code 1 "wrong losses"
expect_value "SELECT status FROM verification ORDER BY trial_id DESC LIMIT 1" failed "wrong losses"
expect_value "SELECT reason LIKE 'not measured%' FROM trial ORDER BY id DESC LIMIT 1" 1 "wrong losses are not timed"

# Unless their user says what is not exact: then they are timed, unverified, and every table says why.
experiment batches.yaml '{command: [./standin_program.py, wrong], name: standin, approximation: batches of clusters}'
gnnbench run batches.yaml
expect_code 0 "an approximation"
expect_value "SELECT status || ': ' || reason FROM verification ORDER BY trial_id DESC LIMIT 1" "unverified: approximate: batches of clusters" "an approximation"
expect_value "SELECT status || ': ' || approximation FROM trial ORDER BY id DESC LIMIT 1" "ok: batches of clusters" "an approximation"

# Its own dropout masks can agree with nobody's.
gnnbench run both.yaml --set train.dropout=0.5 --set "matrix.scheme={command: [./standin_program.py, none], name: standin}"
expect_code 0 "dropout"
expect_value "SELECT status FROM verification ORDER BY trial_id DESC LIMIT 1" unverified "dropout"

# ends_as FAULT STATUS TEXT EPOCHS [ARGUMENT …]
ends_as() {
    experiment faults.yaml "{command: [./standin_program.py, $1], name: standin}"
    gnnbench run faults.yaml --no-verify --set trials=1 "${@:5}"
    expect_code 1 "fault $1"
    expect_no_processes 5 "fault $1"
    local last="FROM trial ORDER BY id DESC LIMIT 1"
    expect_value "SELECT status $last" "$2" "fault $1"
    expect_value "SELECT instr(reason, '$3') > 0 $last" 1 "the reason of fault $1 ($(ask "SELECT reason $last"))"
    expect_value "SELECT count(*) FROM epoch WHERE trial_id = (SELECT id $last)" "$4" "epochs kept of fault $1"
    expect_plain_error "fault $1"
}
ends_as malformed failed "line 4 of the program" 2
ends_as order failed "expected epoch 2; found epoch 3" 2
ends_as many failed "found epoch 5, but only 5" 5
ends_as early failed "ended after 2 of 5 epochs" 2
ends_as exit failed "exit code 1 after 2 of 5" 2
ends_as nan diverged "epoch 2 is not finite" 3
ends_as crash crashed "signal 11" 2
ends_as hang timeout "4 s" 2 --timeout 4
expect_value "SELECT log_tail LIKE '%the stand-in gives up%' FROM trial WHERE reason LIKE '%exit code 1%'" 1 "its last words"
echo ok
