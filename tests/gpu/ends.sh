#!/usr/bin/env bash
# One rank of the kernel `cuda` fails on the emulator while its peers wait for it in NCCL: the trial ends at once, with the
# cause in its record. usage: ends.sh BIN_FOLDER
# shellcheck source=tests/endtoend/lib.sh
source "$(dirname "$0")/../endtoend/lib.sh"
export GNNBENCH_PLUGIN_PATH="$bin/../emulated" GNNBENCH_EMULATED_DEVICES=3
long_experiment ends.yaml
sed -i -e 's/^kernel: .*/kernel: cuda/' -e 's/^gpus: .*/gpus: 3/' -e 's/vertices: 2000/vertices: 300/' ends.yaml
last="FROM trial ORDER BY id DESC LIMIT 1"

# ends_as FAILURE STATUS TEXT [RANK]: a trial one of whose ranks fails so ends at once, with this in its reason.
ends_as() {
    local since=$SECONDS
    GNNBENCH_EMULATED_FAILURE="$1:${4:-1}" gnnbench run ends.yaml --no-verify --rerun --set limits.trial_timeout=30
    expect_code 1 "$1"
    # Its whole life, on a machine that may be busy; 2 s where it is not.
    [[ $((SECONDS - since)) -le 10 ]] || fail "$1: the trial ended after $((SECONDS - since)) s, as $(ask "SELECT status $last")"
    expect_no_processes 1 "$1"
    expect_value "SELECT status $last" "$2" "$1"
    expect_value "SELECT instr(reason, '$3') > 0 $last" 1 "the reason of $1 ($(ask "SELECT reason $last"))"
    expect_plain_error "$1"
}

# Out of memory: before the ranks are connected, then in the trainer's set-up, with communicators and matrices to unwind.
ends_as cudaMalloc:1 oom "asks for a workspace"
ends_as cudaMalloc:8 oom "bytes"
ends_as cudaMalloc:8 oom "bytes" 0
# A kernel that fails, in set-up and in an epoch.
ends_as cudaStreamQuery:3 failed "emulated error"
ends_as cudaStreamQuery:200 failed "emulated error"
# NCCL: a call that fails, alone and at a group's end, and a failure of the network that is noticed while waiting.
ends_as ncclAllReduce:20 failed "ncclAllReduce failed"
ends_as ncclBroadcast:50 failed "ncclBroadcast failed" 2
GNNBENCH_EMULATED_NOT_READY=1100 ends_as ncclCommGetAsyncError:3 failed "NCCL gave up"
# A rank that is gone: NCCL within a node does not notice; the launcher ends the others.
ends_as kill:cudaStreamQuery:200 crashed "signal 9"
echo ok
