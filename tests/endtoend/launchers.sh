#!/usr/bin/env bash
# Sweeps through launchers other than Slurm's, with fake commands of their schedulers (fake_scheduler): whole runs, a host
# that is killed, Ctrl-C, --cancel, jobs that vanish, and a launcher of the site's own.
here="$(cd -- "$(dirname "$0")" && pwd)"
# shellcheck source=tests/endtoend/lib.sh
source "$here/lib.sh"
export OMPI_MCA_mpi_yield_when_idle=1 GNNBENCH_YIELD=sleep OMPI_MCA_btl_vader_single_copy_mechanism=none USER=somebody
tiny_experiment tiny.yaml
long_experiment long.yaml
ok="SELECT count(*) FROM trial WHERE purpose = 'measure' AND status = 'ok'"
running="SELECT count(*) > 3 FROM epoch e JOIN trial t ON t.id = e.trial_id WHERE t.status = 'running'"

export FAKE_SCHEDULER="$work/state"
mkdir -p state bin
for name in sbatch squeue sacct scancel scontrol sinfo srun qsub qstat qdel qselect qacct qhost pbsnodes ssh; do
    ln -s "$here/fake_scheduler" "bin/$name"
done
PATH="$work/bin:$PATH"
end_all() {
    local pid
    for pid in "$work"/state/jobs/*/pid; do
        [[ ! -e "$pid" ]] || kill -KILL -- "-$(cat "$pid")" 2>/dev/null || true
    done
    rm -rf "$work"
}
cleanup=(end_all)
fresh() { rm -rf "$work"/gnnbench.sqlite* "$work"/state/*; echo "$1" >state/kind; }
until_submitted() {
    local i
    for ((i = 0; i < 200; i++)); do
        compgen -G "state/jobs/*/pid" >/dev/null && return 0
        sleep 0.1
    done
    fail "no job was submitted within 20 s"
}
submissions() { grep -c "^$1 " state/calls; }

# --- launchers are listed, and one that is not there is an error with its place --------------------------------------
echo slurm >state/kind
gnnbench launcher list
for name in gridengine local pbs sbatch srun ssh; do expect_text out "$name" "launcher list"; done
gnnbench launcher show pbs
expect_text out "not run for real" "a launcher's file"
gnnbench plan tiny.yaml --launcher pbss
expect_code 2 "a launcher that is not there"
expect_text err "did you mean 'pbs'?" "a launcher that is not there"

# --- the program's launchers with jobs --------------------------------------------------------------------------------
for name in gridengine pbs; do
    fresh "$name"
    verify=()
    [[ "$name" == gridengine ]] || verify=(--no-verify) # once is enough
    gnnbench run tiny.yaml --launcher "$name" --set trials=1 --set launcher.poll=1 "${verify[@]}"
    expect_code 0 "a sweep by $name"
    expect_value "$ok" 3 "a sweep by $name"
    [[ "$name" != gridengine ]] ||
        expect_value "SELECT count(*) FROM verifications WHERE status = 'verified'" 6 "a sweep by $name verifies"
    [[ "$(submissions qsub)" -eq 3 ]] || fail "a sweep by $name submitted $(submissions qsub) jobs"
    [[ ! -e gnnbench.sqlite.jobs ]] || fail "a sweep by $name left its folder"
    gnnbench run tiny.yaml --launcher "$name" --set trials=1
    expect_text err "nothing to run" "a second sweep by $name"
done

# The host is killed while jobs wait; another one follows them, and none is submitted twice.
fresh pbs
touch state/hold
"$bin/gnnbench" run tiny.yaml --launcher pbs --set trials=1 --no-verify >out 2>err &
host=$!
for ((i = 0; i < 100; i++)); do
    [[ "$(submissions qsub 2>/dev/null)" -eq 3 ]] && break
    sleep 0.1
done
sleep 0.3
kill -9 "$host"
wait "$host" 2>/dev/null || true
expect_value "SELECT count(*) FROM claim" 3 "claims of jobs outlive their host"
rm state/hold
gnnbench run tiny.yaml --launcher pbs --set trials=1 --no-verify
expect_text err "following 3 jobs" "jobs of a killed host"
expect_value "SELECT count(*) FROM trial WHERE status = 'ok'" 3 "jobs of a killed host"
[[ "$(submissions qsub)" -eq 3 ]] || fail "jobs of a killed host were submitted again"

# Ctrl-C leaves a job alone; --cancel ends it with the command of its own launcher, whatever the experiment names now, and what it had measured is kept.
fresh gridengine
"$bin/gnnbench" run long.yaml --launcher gridengine --no-verify --set launcher.poll=1 >out 2>err &
host=$!
until_value "$running" 1 60 "a trial trains in a job"
kill -INT "$host"
code=0
wait "$host" || code=$?
expect_code 130 "Ctrl-C while following"
[[ "$(cat state/jobs/*/state)" == running ]] || fail "Ctrl-C ended the job"
gnnbench run long.yaml --launcher sbatch --cancel
expect_code 1 "cancelling jobs"
expect_value "SELECT status FROM trial ORDER BY id DESC LIMIT 1" interrupted "cancelling jobs"
expect_value "SELECT count(*) > 3 FROM epoch" 1 "cancelling jobs keeps what they measured"
expect_no_processes 10 "cancelling jobs"

# A scheduler that refuses, one that answers nonsense for a while, and a job that vanishes: nothing is lost, nothing made up.
fresh gridengine
echo "Unable to run job: no project" >state/refuse
gnnbench run tiny.yaml --launcher gridengine
expect_code 5 "a scheduler that refuses"
expect_text err "Unable to run job: no project" "a scheduler that refuses"
expect_plain_error "a scheduler that refuses"
rm state/refuse
touch state/hold
"$bin/gnnbench" run tiny.yaml --launcher gridengine --no-verify --set trials=1 --set launcher.jobs=one --set launcher.poll=1 >out 2>err &
host=$!
until_submitted
echo "under maintenance" >state/garble
for ((i = 0; i < 60; i++)); do
    grep -q "does not answer; retrying" err && break
    sleep 0.1
done
rm state/garble state/hold
code=0
wait "$host" || code=$?
expect_code 0 "a scheduler that answers nonsense for a while"
expect_text err "Grid Engine does not answer; retrying" "a scheduler that answers nonsense for a while"
expect_value "$ok" 3 "a scheduler that answers nonsense for a while"
fresh pbs
touch state/hold state/forget
"$bin/gnnbench" run tiny.yaml --launcher pbs --no-verify --set trials=1 --set launcher.jobs=one --set launcher.poll=1 >out 2>err &
host=$!
until_submitted
kill -KILL -- "-$(cat state/jobs/*/pid)"
rm -r state/jobs
code=0
wait "$host" || code=$?
expect_code 1 "a job that vanishes"
expect_text err "is no longer listed, and 3 of its trials had not begun" "a job that vanishes"
expect_value "SELECT count(*) FROM claim" 0 "the trials of a job that vanished are due again"

# --- ssh, and a launcher of the site's own -----------------------------------------------------------------------------
fresh slurm
hostname >hosts
gnnbench run tiny.yaml --launcher ssh --set launcher.hosts=hosts --set trials=1 --no-verify
expect_code 0 "a sweep over ssh"
expect_value "$ok" 3 "a sweep over ssh"
expect_value "SELECT count(*) FROM machine WHERE cpu LIKE '1 hosts of %'" 1 "the hosts are the machine"
mkdir site
cat >site/torque.yaml <<'YAML'
about: the cluster of this test
extends: pbs
machine: {name: our cluster, cores: 2}
YAML
fresh pbs
GNNBENCH_LAUNCHER_PATH="$work/site" gnnbench run tiny.yaml --launcher torque --set trials=1 --no-verify --where "scheme = 'serial'"
expect_code 0 "a launcher of the site's own"
expect_value "SELECT count(*) FROM machine WHERE cpu = 'our cluster'" 1 "a launcher of the site's own"
sed -i 's/extends: pbs/extends: pbx/' site/torque.yaml
GNNBENCH_LAUNCHER_PATH="$work/site" gnnbench run tiny.yaml --launcher torque
expect_code 2 "a launcher file that is wrong"
expect_text err "torque.yaml:2:10: extends: found the text 'pbx'; allowed: " "a launcher file that is wrong"
cp site/torque.yaml torque.yaml
gnnbench run tiny.yaml --launcher torque
expect_code 2 "a launcher beside the experiment"
expect_text err "found the text 'torque'; allowed: gridengine" "a launcher beside the experiment"
# Another scheduler's options may run programs; the experiment needs permission for them.
GNNBENCH_ALLOW_PROGRAMS='' gnnbench run tiny.yaml --launcher pbs --set 'launcher.options=["-S ./shell"]' </dev/null
expect_code 2 "options that may run programs"
expect_text err "-S ./shell" "options that may run programs"
echo "ok: launchers as files"
