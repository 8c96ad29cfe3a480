#!/usr/bin/env bash
# Processes that are killed, or hang: nothing recorded is lost, nothing lives on, the sweep goes on.
# shellcheck source=tests/endtoend/lib.sh
source "$(dirname "$0")/lib.sh"
# Other tests run beside this one, and the machine may be busy: what is waited for are events. A number of seconds is where
# waiting for one ends, and long.yaml trains for longer than that.
long_experiment long.yaml
running="SELECT count(*) > 3 FROM epoch e JOIN trial t ON t.id = e.trial_id WHERE t.status = 'running'"

# start ARGUMENT …: gnnbench in the background; its pid is in `host`.
start() {
    "$bin/gnnbench" "$@" >"$work/out" 2>"$work/err" &
    host=$!
}
finish() {
    code=0
    wait "$host" 2>/dev/null || code=$?
}

# Ctrl-C before the first trial, while its combination is verified, which would not end: there was something to run.
cat >checked.yaml <<'YAML'
imports: [long.yaml]
name: checked
scheme: {name: faulty, fault: hang}
gpus: 1
YAML
GNNBENCH_PLUGIN_PATH="$bin/../test-plugins/faulty" start run checked.yaml
until_value "SELECT count(*) FROM trial WHERE purpose = 'verify' AND status = 'running'" 1 60 "the combination is verified"
kill -INT "$host"
finish
expect_code 130 "Ctrl-C during verification"
expect_text err "0 of 1 trial run" "Ctrl-C during verification"
refuse_text err "nothing to run" "Ctrl-C during verification"
expect_no_processes 30 "Ctrl-C during verification"

# Ctrl-C: the trial ends at once and is due again.
start run long.yaml
until_value "$running" 1 60 "the trial trains"
kill -INT "$host"
finish
expect_code 130 "Ctrl-C"
expect_no_processes 30 "Ctrl-C"
expect_text err "interrupted" "Ctrl-C"
expect_value "SELECT status FROM trial WHERE purpose = 'measure' ORDER BY id DESC LIMIT 1" interrupted "Ctrl-C"
epochs="$(ask "SELECT count(*) FROM epoch e JOIN trial t ON t.id = e.trial_id WHERE t.status = 'interrupted'")"
[[ "$epochs" -gt 3 ]] || fail "Ctrl-C: $epochs epochs are left"
gnnbench plan long.yaml
expect_text out "1 to run" "an interrupted trial is due again"

# A rank is killed while both exchange rows through shared memory: a row with its cause, nothing of that memory is left, and
# the sweep's next trial runs, until one of its ranks is killed too. Failed trials are due only with --failed.
sed 's/^trials: 1/&\nmatrix: {seed: [0, 1]}/' long.yaml >two.yaml
start run two.yaml
killed=none
for trial in first second; do
    until_value "SELECT count(*) > 3 FROM epoch e JOIN trial t ON t.id = e.trial_id WHERE t.status = 'running' AND uuid <> '$killed'" 1 60 \
        "the $trial trial trains"
    [[ ! -e "/dev/shm/gnnbench-$killed" ]] || fail "kill -9 of a rank: its trial's folder in shared memory is left"
    mapfile -t training < <(ranks)
    [[ ${#training[@]} -eq 2 ]] || fail "${#training[@]} ranks in the $trial trial"
    killed="$(ask "SELECT uuid FROM trial WHERE status = 'running'")"
    grep -q memfd:gnnbench "/proc/${training[1]}/maps" || echo "ranks do not share memory here"
    kill -9 "${training[1]}"
done
finish
expect_code 1 "kill -9 of a rank"
expect_no_processes 30 "kill -9 of a rank"
[[ ! -e "/dev/shm/gnnbench-$killed" ]] || fail "kill -9 of a rank: its trial's folder in shared memory is left"
crashed="FROM trial WHERE purpose = 'measure' AND status = 'crashed'"
expect_value "SELECT count(*) $crashed" 2 "kill -9 of a rank"
expect_value "SELECT count(*) $crashed AND reason LIKE 'rank % was killed by signal 9%' AND log_tail <> ''" 2 "its cause and log"
gnnbench run long.yaml
expect_code 1 "a failed cell stays failed"
expect_text err "--failed reruns them" "a failed cell stays failed"
gnnbench plan long.yaml --failed
expect_text out "1 to run" "--failed asks for it again"

# The host is killed: its trial's processes vanish, what they recorded is replayed.
start run long.yaml --failed
until_value "$running" 1 60 "the failed trial trains again"
trial="$(ask "SELECT uuid FROM trial WHERE status = 'running'")"
[[ ! -w /dev/shm || -d "/dev/shm/gnnbench-$trial" ]] || fail "the failed trial trains again: no folder of it in shared memory"
kill -9 "$host"
finish
expect_no_processes 30 "kill -9 of the host"
# What it had in shared memory goes with the next command, whatever that is and whatever database it is of: with this one,
# unless another test's came first, and is perhaps not done with it.
gnnbench query --list --database elsewhere.sqlite
for ((i = 0; i < 150; i++)); do
    [[ -e "/dev/shm/gnnbench-$trial" ]] || break
    sleep 0.2
done
[[ ! -e "/dev/shm/gnnbench-$trial" ]] || fail "a killed host's shared memory outlives the next command"
gnnbench run long.yaml --failed --set limits.trial_timeout=2
expect_text err "interrupted earlier" "the next run replays the journal of the dead"
expect_value "SELECT status FROM trial WHERE uuid = '$trial'" interrupted "kill -9 of the host"
expect_value "SELECT count(*) > 3 FROM epoch e JOIN trial t ON t.id = e.trial_id WHERE t.uuid = '$trial'" 1 \
    "what it had recorded"

# That run had a limit of two seconds: the trial past it is a row, and gone.
expect_code 1 "a trial past its limit"
expect_value "SELECT status FROM trial ORDER BY id DESC LIMIT 1" timeout "a trial past its limit"
expect_no_processes 30 "a trial past its limit"
[[ -z "$(ls gnnbench.sqlite.journals)" ]] || fail "left beside the database: $(ls gnnbench.sqlite.journals)"
gnnbench run long.yaml --failed --set epochs=2
expect_code 0 "a shorter one completes"

# The step after the last epoch has a limit of its own. Cut short, it leaves its trial ok, and the next trial takes it.
export GNNBENCH_PLUGIN_PATH="$bin/../test-plugins/faulty"
cat >late.yaml <<'YAML'
imports: [long.yaml]
name: late
scheme: {name: faulty, fault: late}
gpus: 1
epochs: 2
YAML
late="FROM trial t JOIN experiment x ON x.id = t.experiment_id LEFT JOIN verification v ON v.trial_id = t.id
      WHERE x.name = 'late' AND t.purpose = 'measure' ORDER BY t.id DESC LIMIT 1"
gnnbench verify late.yaml
FAULTY_HANGS=1 gnnbench run late.yaml --set limits.verify_timeout=0.1
expect_code 0 "a late step that is cut short"
expect_text err "no end after 0.1 s, the limit of the step after the last epoch" "a late step that is cut short"
expect_value "SELECT t.status || ' ' || v.status $late" "ok unverified" "a late step that is cut short"
expect_value "SELECT DISTINCT verification FROM cells c JOIN trials t ON t.cell = c.cell WHERE t.experiment = 'late'" verified \
    "what a late step that is cut short leaves verified"
gnnbench run late.yaml --rerun
expect_value "SELECT t.status || ' ' || v.status $late" "ok verified" "the next trial's late step"
unset GNNBENCH_PLUGIN_PATH

# The terminal is closed: whoever read both outputs is gone, and then the signal comes.
mkfifo terminal
cat terminal >/dev/null &
reader=$!
"$bin/gnnbench" run long.yaml --no-verify --rerun >terminal 2>terminal &
host=$!
until_value "$running" 1 60 "the trial trains on a terminal"
kill "$reader"
kill -HUP "$host"
finish
expect_code 130 "a closed terminal"
expect_no_processes 30 "a closed terminal"
expect_value "SELECT status FROM trial WHERE purpose = 'measure' ORDER BY id DESC LIMIT 1" interrupted "a closed terminal"

# Ctrl-C ends a query that would not end. A script's background process ignores it unless told otherwise. That it counts is
# told by the time it has computed.
env --default-signal=INT "$bin/gnnbench" query \
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n" >out 2>err &
host=$!
until [[ "$(cut -d' ' -f14 "/proc/$host/stat" 2>/dev/null)" -ge 50 ]]; do
    kill -0 "$host" 2>/dev/null || fail "Ctrl-C of a query: it had ended"
    sleep 0.05
done
kill -INT "$host"
finish
expect_code 130 "Ctrl-C of a query"
echo ok
