# shellcheck shell=bash disable=SC2034,SC2154 # shared with lib.sh, which is sourced before
# Sourced after lib.sh: a Slurm cluster of one or more nodes on loopback, in the test's scratch folder, with its own ports,
# configuration and daemons, which end with the test. No daemon of the system, no munge, no account is touched.

# skip REASON: ctest counts exit code 77 as skipped.
skip() {
    printf 'skipped: %s\n' "$*"
    exit 77
}

daemons=()
stop_cluster() {
    local pid i
    if [[ ${#daemons[@]} -gt 0 ]]; then
        timeout 10 scancel --quiet --signal=KILL --user="$(id -un)" 2>/dev/null || true
        timeout 10 scancel --quiet --user="$(id -un)" 2>/dev/null || true
        for ((i = 0; i < 50; i++)); do
            [[ -n "$(timeout 5 squeue -h 2>/dev/null)" ]] || break
            sleep 0.2
        done
    fi
    for pid in "${daemons[@]}"; do kill -TERM "$pid" 2>/dev/null || true; done
    for pid in "${daemons[@]}"; do
        for ((i = 0; i < 50; i++)); do
            kill -0 "$pid" 2>/dev/null || continue 2
            sleep 0.2
        done
        kill -KILL "$pid" 2>/dev/null || true
    done
}
remove_all() {
    stop_cluster
    rm -rf "$work"
}

# free_port: one that nobody listens on now.
free_port() {
    local port
    while :; do
        port=$((20000 + RANDOM % 20000))
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
    done
    echo "$port"
}

# start_cluster CPUS [NODES]: skips the test where that cannot be. More than one node are as many slurmd on this host, each with
# a name and a port of its own.
start_cluster() {
    local program node conf="$work/slurm/slurm.conf" nodes=("") i
    for program in slurmctld slurmd srun sbatch squeue scancel scontrol sinfo setpriv; do
        command -v "$program" >/dev/null || skip "no $program here (Debian: slurm-wlm)"
    done
    [[ $EUID -eq 0 ]] || skip "slurmd starts jobs of this user only as root"
    node="$(hostname -s)"
    mkdir -p "$work/slurm/state"
    cat >"$conf" <<CONF
ClusterName=loopback
SlurmctldHost=$node(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
SlurmctldPort=$(free_port)
StateSaveLocation=$work/slurm/state
SlurmdSpoolDir=$work/slurm/spool-%n
TmpFS=$work/slurm/tmp-%n
SlurmctldPidFile=$work/slurm/slurmctld.pid
SlurmdPidFile=$work/slurm/slurmd-%n.pid
SlurmctldLogFile=$work/slurm/slurmctld.log
SlurmdLogFile=$work/slurm/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=2,bf_interval=2
EnforcePartLimits=ALL
ReturnToService=2
KillWait=2
MinJobAge=300
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
    [[ "${2:-1}" -eq 1 ]] || mapfile -t nodes < <(seq -f '-%g' "$2")
    for i in "${nodes[@]}"; do
        echo "NodeName=$node$i NodeHostname=$node NodeAddr=127.0.0.1 Port=$(free_port) CPUs=$1 RealMemory=4000 State=UNKNOWN" >>"$conf"
    done
    export SLURM_CONF="$conf"
    cleanup=(remove_all)
    setpriv --pdeathsig TERM slurmctld -D -i -f "$conf" >"$work/slurm/ctld.out" 2>&1 &
    daemons+=($!)
    for i in "${nodes[@]}"; do
        mkdir -p "$work/slurm/spool-$node$i" "$work/slurm/tmp-$node$i" # PMIx, too, needs a folder of each node's own
        setpriv --pdeathsig TERM slurmd -D -N "$node$i" -f "$conf" >"$work/slurm/d$i.out" 2>&1 &
        daemons+=($!)
    done
    for ((i = 0; i < 100; i++)); do
        [[ "$(sinfo -h -N -o %t 2>/dev/null | grep -cx idle)" -eq "${#nodes[@]}" ]] && return 0
        sleep 0.2
    done
    tail -n 5 "$work"/slurm/*.log "$work"/slurm/*.out 2>/dev/null || true
    skip "the Slurm cluster of ${#nodes[@]} nodes does not come up here (above)"
}

# expect_empty_queue SECONDS WHAT
expect_empty_queue() {
    local i
    for ((i = 0; i < $1 * 5; i++)); do
        [[ -z "$(squeue -h 2>/dev/null)" ]] && return 0
        sleep 0.2
    done
    fail "$2: jobs are left after $1 s: $(squeue)"
}

# until_running COUNT SECONDS WHAT: jobs of this cluster.
until_running() {
    local i
    for ((i = 0; i < $2 * 5; i++)); do
        [[ "$(squeue -h -r -t running | wc -l)" -ge $1 ]] && return 0
        sleep 0.2
    done
    fail "$3: $1 jobs did not run within $2 s: $(squeue)"
}
