#!/usr/bin/env bash
# A strategy that goes wrong: each way of it is a row with its cause, the sweep goes on, nothing lives on.
# shellcheck source=tests/endtoend/lib.sh
source "$(dirname "$0")/lib.sh"
export GNNBENCH_PLUGIN_PATH="$bin/../test-plugins/faulty"
tiny_experiment tiny.yaml
sed -e 's/^  scheme: .*/  scheme: [{name: faulty, fault: none}, mg-gcn]/' -e 's/trials: 2/trials: 1/' \
    -e 's/^  gpus: .*/  gpus: [2]/' tiny.yaml >wrong.yaml

# It is found out before it is timed; what is right beside it is measured.
gnnbench run wrong.yaml
expect_code 1 "a scheme that is not what it claims"
expect_value "SELECT status FROM trial t JOIN cell c ON c.id = t.cell_id WHERE scheme = 'faulty' AND purpose = 'measure'" failed "it is not timed"
expect_value "SELECT status FROM trial t JOIN cell c ON c.id = t.cell_id WHERE scheme = 'mg-gcn' AND purpose = 'measure'" ok "the other is"
expect_value "SELECT reason LIKE 'not measured%' FROM trial t JOIN cell c ON c.id = t.cell_id WHERE scheme = 'faulty' AND purpose = 'measure'" 1 \
    "why it is not timed"
gnnbench verify wrong.yaml
expect_code 1 "verify of it"
expect_text out "FAILED" "verify of it"

# Right as training, and gradients told that it does not step with: in float32 alone, or whatever the type.
gnnbench verify wrong.yaml --set "scheme={name: faulty, fault: rounding}" --set gpus=[1]
expect_code 1 "gradients told wrong in float32"
expect_text out "step of W0" "gradients told wrong in float32"
gnnbench verify wrong.yaml --set "scheme={name: faulty, fault: scale}" --set gpus=[1] --json
expect_code 1 "gradients told wrong in both types"
expect_text out "in float64 it differs from the serial reference: loss by" "gradients told wrong in both types"

# ends_as FAULT STATUS TEXT [LIMIT_S]: a trial with this fault ends so, with this in its reason.
ends_as() {
    gnnbench run wrong.yaml --no-verify --set "scheme={name: faulty, fault: $1}" --set limits.trial_timeout="${4:-8}"
    expect_code 1 "fault $1"
    expect_no_processes 5 "fault $1"
    local last="FROM trial ORDER BY id DESC LIMIT 1"
    expect_value "SELECT status $last" "$2" "fault $1"
    expect_value "SELECT instr(reason, '$3') > 0 $last" 1 "the reason of fault $1 ($(ask "SELECT reason $last"))"
    expect_value "SELECT count(*) > 0 FROM epoch WHERE trial_id = (SELECT id $last)" 1 "epochs before fault $1"
    expect_plain_error "fault $1"
}
ends_as segfault crashed "signal 11"
ends_as throw failed "the last rank has had enough"
ends_as memory oom "0 bytes left"
ends_as nan diverged "not finite"
ends_as leave failed "exit code"
ends_as hang timeout "4 s" 4
gnnbench table
expect_code 0 "a table of failures"
expect_text out "timeout" "a table of failures"

# What set-up's seconds and an epoch's memory are not: the statement of volume, an evaluation between epochs. What a
# worker's numbers are not: subnormal.
harmless() {
    gnnbench run wrong.yaml --no-verify --set "scheme={name: faulty, fault: $1}" --set train.evaluate_every=1
    expect_code 0 "a trial that is $1"
}
harmless slow
expect_value "SELECT setup_s < 3 AND build_s < 3 FROM trial ORDER BY id DESC LIMIT 1" 1 "set-up without the statement"
harmless greedy
expect_value "SELECT peak_memory_bytes < 8388608 FROM trial ORDER BY id DESC LIMIT 1" 1 "an epoch's memory without evaluation's"
harmless subnormal
echo ok
