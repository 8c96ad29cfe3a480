#!/usr/bin/env bash
# Machines on which ranks used to hang: little shared memory, low limits, a user without a home. And what a trial shows to
# other machines: nothing.
# shellcheck source=tests/endtoend/lib.sh
source "$(dirname "$0")/lib.sh"
cat >two.yaml <<'YAML'
name: two
dataset: {generate: dcsbm, vertices: 300, average_degree: 8, features: 8, classes: 4}
model: {hidden: [8]}
scheme: mg-gcn
gpus: 2
kernel: cpu
threads_per_rank: 1
epochs: 2
warmup: 0
trials: 1
limits: {trial_timeout: 30, verify_timeout: 30}
YAML
gnnbench run two.yaml
expect_code 0 "a run on this machine as it is"

# Looked at before anything starts: no rank hangs until the trial's limit.
code=0
(ulimit -n 34 && exec "$bin/gnnbench" run --rerun --no-verify two.yaml) >"$work/out" 2>"$work/err" || code=$?
expect_code 5 "few open files"
expect_text err "ulimit -n" "few open files"
code=0
(ulimit -v 600000 && exec timeout 20 "$bin/gnnbench" run --rerun --no-verify two.yaml) >"$work/out" 2>"$work/err" || code=$?
expect_code 5 "little address space"
expect_text err "ulimit -v" "little address space"
code=0
(ulimit -f 1024 && exec timeout 20 "$bin/gnnbench" run --rerun --no-verify two.yaml) >"$work/out" 2>"$work/err" || code=$?
expect_code 5 "a small limit on files"
expect_text err "ulimit -f" "a small limit on files"
code=0
(ulimit -v 600000 && exec timeout 60 "$bin/gnnbench" doctor) >"$work/out" 2>"$work/err" || code=$?
expect_code 5 "doctor with little address space"
expect_text out "ulimit -v" "doctor with little address space"

# A limit on the size of files: a message, and what was measured stays.
before="$(ask "SELECT count(*) FROM epoch")"
code=0
(ulimit -f 100 && exec "$bin/gnnbench" run --rerun --no-verify two.yaml) >"$work/out" 2>"$work/err" || code=$?
[[ $code -eq 5 || $code -eq 1 ]] || fail "a limit on the size of files: expected exit code 5 or 1, found $code"
expect_plain_error "a limit on the size of files"
[[ "$(ask "SELECT count(*) FROM epoch")" -ge "$before" ]] || fail "a limit on the size of files lost epochs"
gnnbench run --failed two.yaml
expect_code 0 "a run after that"

# While two ranks train, nothing of the trial listens beyond loopback.
listening_beyond_loopback() {
    local pid inode
    for pid in $(trial_processes); do
        for inode in $(find "/proc/$pid/fd" -lname 'socket:*' -printf '%l\n' 2>/dev/null | tr -dc '0-9\n'); do
            awk -v inode="$inode" -v pid="$pid" '$4 == "0A" && $10 == inode && $2 !~ /^0100007F:/ &&
                $2 !~ /^00000000000000000000000001000000:/ { print pid, $2 }' /proc/net/tcp /proc/net/tcp6 2>/dev/null
        done
    done
}
long_experiment long.yaml
"$bin/gnnbench" run --no-verify long.yaml >"$work/out" 2>"$work/err" &
host=$!
until_value "SELECT count(*) > 0 FROM trial JOIN experiment e ON e.id = experiment_id WHERE e.name = 'long'" 1 60 "the long trial begins"
for ((i = 0; i < 100 && $(ranks | wc -l) < 2; i++)); do sleep 0.2; done
sleep 1 # MPI_Init
[[ $(ranks | wc -l) -eq 2 ]] || fail "two ranks do not run"
found="$(listening_beyond_loopback)"
kill -INT $host
wait $host || true
if [[ -e "$bin/../lib/libgnnbench_loopback.so" ]] && mpiexec --version 2>/dev/null | grep -qE '(OpenRTE|Open MPI)\) 4\.'; then
    [[ -z "$found" ]] || fail "processes of a trial listen on all interfaces: $found"
fi

# What only root can try here.
if [[ $EUID -ne 0 ]] || ! unshare -m true 2>/dev/null; then
    echo "ok (little shared memory and a user without a home were not tried: that needs root)"
    exit 0
fi
# with_shm OPTIONS: the run under a /dev/shm mounted with these.
with_shm() {
    code=0
    # shellcheck disable=SC2016 # for the inner shell
    unshare -m --propagation private bash -c 'mount -t tmpfs -o "$0" tmpfs /dev/shm && exec "$@"' "$1" \
        "$bin/gnnbench" run --rerun --no-verify two.yaml >"$work/out" 2>"$work/err" || code=$?
    expect_code 0 "/dev/shm with $1"
    expect_text err "their shared files are" "/dev/shm with $1"
}
with_shm size=4m
with_shm size=64m,ro
mkdir unnamed && cp two.yaml unnamed && chown -R 54321:54321 unnamed && chmod 755 "$work"
code=0
(cd unnamed && exec setpriv --reuid 54321 --regid 54321 --clear-groups env -u HOME -u USER -u LOGNAME \
    -u XDG_CONFIG_HOME TMPDIR=/tmp "$bin/gnnbench" run two.yaml) >"$work/out" 2>"$work/err" || code=$?
expect_code 0 "a user without a home and without an entry in passwd"
echo ok
