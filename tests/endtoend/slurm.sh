#!/usr/bin/env bash
# Sweeps through Slurm: srun and sbatch on a cluster of one node, which this test starts and stops.
here="$(cd -- "$(dirname "$0")" && pwd)"
# shellcheck source=tests/endtoend/lib.sh
source "$here/lib.sh"
# shellcheck source=tests/endtoend/slurm_cluster.sh
source "$here/slurm_cluster.sh"
start_cluster 4
# Slurm believes in more cores than there may be.
export OMPI_MCA_mpi_yield_when_idle=1 GNNBENCH_YIELD=sleep OMPI_MCA_btl_vader_single_copy_mechanism=none
tiny_experiment tiny.yaml
long_experiment long.yaml
ok="SELECT count(*) FROM trial WHERE purpose = 'measure' AND status = 'ok'"
twice="SELECT count(*) FROM (SELECT cell_id, number FROM trial WHERE purpose = 'measure' AND status = 'ok'
       GROUP BY cell_id, number HAVING count(*) > 1)"
checked="SELECT count(*) FROM trial WHERE purpose = 'verify' AND status = 'ok'"
verified="SELECT count(*) FROM verifications WHERE status = 'verified'"
running="SELECT count(*) > 3 FROM epoch e JOIN trial t ON t.id = e.trial_id WHERE t.status = 'running'"
no_gpu=false
if [[ -n "$(find "$bin/../lib" -name libkernel_cuda.so -print -quit)" && ! -e /dev/nvidia0 ]]; then no_gpu=true; fi

# start ARGUMENT …: gnnbench in the background; its pid is in `host`.
start() {
    "$bin/gnnbench" "$@" >"$work/out" 2>"$work/err" &
    host=$!
}
finish() {
    code=0
    wait "$host" 2>/dev/null || code=$?
}
fresh() {
    rm -rf "$work"/gnnbench.sqlite*
    expect_empty_queue 20 "before a fresh database"
}

# --- a compute node is asked, not this host -------------------------------------------------------------------------
gnnbench doctor --launcher srun
expect_text out "Slurm loopback/main: nodes of 4 cores" "doctor asks Slurm"
expect_text out "node: kernel cpu" "doctor asks a compute node"
gnnbench doctor --launcher srun --partition nope
expect_code 5 "doctor with a partition that is not there"
expect_text out "no partition 'nope'; sinfo lists main" "doctor names the partitions"
gnnbench plan tiny.yaml --launcher srun --set launcher.partition=nope
expect_code 5 "plan with a partition that is not there"
expect_plain_error "plan with a partition that is not there"

# --- srun -----------------------------------------------------------------------------------------------------------
gnnbench run tiny.yaml --launcher srun
expect_code 0 "a sweep by srun"
expect_value "$ok" 6 "a sweep by srun"
expect_value "$checked" 3 "a sweep by srun verifies first"
expect_value "$verified" 6 "a sweep by srun verifies, and takes a late step after each cell's first trial"
expect_value "SELECT count(*) FROM machine WHERE cpu = 'Slurm loopback/main' AND cores = 4" 1 "the cluster is the machine"
gnnbench run tiny.yaml --launcher srun
expect_code 0 "a second sweep by srun"
expect_text err "nothing to run" "a second sweep by srun"
gnnbench plan tiny.yaml
expect_text out "6 trials" "what a cluster measured is not there for this host"
expect_empty_queue 10 "after sweeps by srun"

gnnbench run long.yaml --launcher srun --no-verify --timeout 2
expect_code 1 "a trial that takes too long under srun"
expect_value "SELECT status FROM trial WHERE purpose = 'measure' ORDER BY id DESC LIMIT 1" timeout "a timeout under srun"
expect_no_processes 5 "a timeout under srun"
expect_empty_queue 10 "a timeout under srun"

gnnbench run long.yaml --launcher srun --no-verify --failed --set launcher.nodes=9
expect_code 5 "more nodes than there are"
expect_text err "Unable to allocate resources" "Slurm's reason is shown"
expect_value "SELECT count(*) FROM trial WHERE status = 'failed'" 0 "a launcher's failure is no cell's"

start run long.yaml --launcher srun --no-verify --failed
until_value "$running" 1 60 "a trial trains under srun"
kill -9 "$host"
finish
expect_no_processes 15 "kill -9 of the host of an srun"
expect_empty_queue 15 "kill -9 of the host of an srun"

if $no_gpu; then
    gnnbench plan tiny.yaml --launcher srun --set kernel=cuda
    expect_text out "the kernel is asked on the compute node at run time" "plan does not answer for a compute node"
    gnnbench run tiny.yaml --launcher srun --set kernel=cuda
    expect_code 0 "kernel cuda on a node without GPU, by srun"
    expect_text err "skipped" "kernel cuda on a node without GPU, by srun"
    expect_value "SELECT count(DISTINCT cell_id) FROM trial WHERE purpose = 'measure' AND status = 'skipped'
        AND reason LIKE '%no CUDA device (driver not found)%'" 3 "each cell is skipped by its compute node"
fi

# --- sbatch: one array, which ends under our eyes -------------------------------------------------------------------
fresh
gnnbench run tiny.yaml --launcher sbatch
expect_code 0 "a sweep by sbatch"
expect_value "$ok" 6 "a sweep by sbatch"
expect_value "$twice" 0 "a sweep by sbatch"
expect_value "$checked" 3 "jobs verify first"
expect_value "$verified" 6 "jobs verify, and take a late step after each cell's first trial"
expect_text err "submitted 3 jobs" "a sweep by sbatch"
[[ ! -e gnnbench.sqlite.jobs ]] || fail "a sweep by sbatch left its folder: $(find gnnbench.sqlite.jobs)"
[[ -z "$(ls gnnbench.sqlite.journals)" ]] || fail "a sweep by sbatch left journals: $(ls gnnbench.sqlite.journals)"
gnnbench run tiny.yaml --launcher sbatch
expect_text err "nothing to run" "a second sweep by sbatch"
expect_value "SELECT count(*) FROM claim" 0 "claims of jobs that are over"

# Ranks that one process simulates are one task of a job, which verifies nothing, since nothing is computed.
fresh
gnnbench run tiny.yaml --launcher sbatch --set 'kernel={name: simulated, machine: perlmutter}' --set gpus=64 --set scheme=cagnet-1d
expect_code 0 "64 simulated ranks by sbatch"
expect_value "$checked" 0 "64 simulated ranks by sbatch"

# The host is killed while jobs wait and run; whoever comes next collects them, and none runs twice.
fresh
cat >slow.yaml <<'YAML'
imports: [tiny.yaml]
name: slow
epochs: 400
trials: 1
matrix: {gpus: [1, 2], seed: [1, 2]}
scheme: mg-gcn
launcher: {name: sbatch, jobs: cell, poll: 2}
YAML
start run slow.yaml --no-verify
until_running 1 60 "jobs of a host that will be killed"
kill -9 "$host"
finish
expect_value "SELECT count(*) FROM claim" 4 "claims of jobs outlive their host"
begun="$(squeue -h -t all -o %j | grep -c ^gnnbench-)"
gnnbench run slow.yaml --no-verify
expect_code 0 "collecting the jobs of a killed host"
expect_text err "following" "collecting the jobs of a killed host"
expect_value "$ok" 4 "collecting the jobs of a killed host"
expect_value "$twice" 0 "no trial runs twice"
expect_value "SELECT count(*) FROM trial" 4 "no trial is begun twice"
[[ "$(squeue -h -t all -o %j | grep -c ^gnnbench-)" -eq "$begun" ]] || fail "jobs were submitted twice"

# The same while nobody looks, to the end.
fresh
gnnbench run slow.yaml --no-verify --no-follow --set launcher.jobs=array --jobs 2
expect_code 0 "submitting without following"
expect_text err "continue without this command" "submitting without following"
expect_empty_queue 120 "jobs end without a host"
gnnbench run slow.yaml --no-verify
expect_value "$ok" 4 "finished jobs are found again"
expect_value "SELECT count(*) FROM trial" 4 "finished jobs are not submitted again"

# A trial's limit holds in a job; the next trial has its turn.
fresh
gnnbench run long.yaml --launcher sbatch --no-verify --timeout 2 --set trials=2 --set launcher.jobs=one
expect_code 1 "a trial that takes too long in a job"
expect_value "SELECT count(*) FROM trial WHERE status = 'timeout'" 2 "a trial that takes too long in a job"

# Ctrl-C leaves jobs alone, and says so; --cancel ends them, and what they had measured is kept.
fresh
start run long.yaml --launcher sbatch --no-verify
until_value "$running" 1 60 "a trial trains in a job"
kill -INT "$host"
finish
expect_code 130 "Ctrl-C while following"
expect_text err "1 job continues without this command" "Ctrl-C while following"
[[ "$(squeue -h -t running | wc -l)" -eq 1 ]] || fail "Ctrl-C while following: the job does not run on"
gnnbench run long.yaml --launcher sbatch --cancel
expect_code 1 "cancelling jobs"
expect_empty_queue 20 "cancelling jobs"
expect_value "SELECT status FROM trial ORDER BY id DESC LIMIT 1" interrupted "cancelling jobs"
epochs="$(ask "SELECT count(*) FROM epoch")"
[[ "$epochs" -gt 3 ]] || fail "cancelling jobs: $epochs epochs are left"
expect_value "SELECT count(*) FROM claim" 0 "cancelling jobs"

# A job that fails before its first trial: a row for each trial, with what the job printed, not asked for again.
fresh
gnnbench run tiny.yaml --launcher sbatch --set 'launcher.before="echo no such module; exit 3"'
expect_code 1 "a job script that fails"
expect_value "SELECT count(*) FROM trial WHERE status = 'failed' AND reason LIKE '%no such module%'" 6 "a job script that fails"
gnnbench run tiny.yaml --launcher sbatch
expect_text err "nothing to run" "a job that failed stays failed until --failed"

if $no_gpu; then
    fresh
    gnnbench run tiny.yaml --launcher sbatch --set kernel=cuda
    expect_code 0 "kernel cuda on a node without GPU, by sbatch"
    expect_value "SELECT count(DISTINCT cell_id) FROM trial WHERE purpose = 'measure' AND status = 'skipped'
        AND reason LIKE '%no CUDA device (driver not found)%'" 3 "each cell is skipped by its compute node, by sbatch"
fi
expect_no_processes 5 "at the end"
echo "ok: sweeps through srun and sbatch"
