#!/usr/bin/env bash
# Everything that needs a GPU, stage by stage, in the order of what a stage teaches, and a dated record of it. What has ended
# is not run again, so that a call that was cut off goes on where it stopped. From the bundle: ./gpu-check. From a checkout:
# ./dev gpu-check.
#   --for SECONDS   start no stage whose limit ends later than this; exit code 75 says that more is to do
#   --jobs N        so many tests of correctness at once (1); times are always taken alone
#   --only PATTERN  only stages whose names match this pattern of the shell, as 'strategy-*-2-nccl'
#   --fresh         forget what was run before
set -uo pipefail

home="${GNNBENCH_HOME:?the folder with bin/gnnbench}"
state="${GNNBENCH_GPU_STATE:-$PWD/gpu-check-state}"
results="${GNNBENCH_GPU_RESULTS:-$PWD/results/gpu}"
experiments="${GNNBENCH_GPU_EXPERIMENTS:-$home/share/gnnbench/experiments/gpu}"
for_s=0 jobs=1 only='*' left=0
while [[ $# -gt 0 ]]; do
    case "$1" in
        --for) for_s="$2" && shift 2 ;;
        --jobs) jobs="$2" && shift 2 ;;
        --only) only="$2" && shift 2 ;;
        --fresh) rm -rf "$state" && shift ;;
        *) echo "gpu-check: --for SECONDS, --jobs N, --only PATTERN and --fresh are known, \"$1\" is not" >&2 && exit 2 ;;
    esac
done
mkdir -p "$state" "$results"
begun=$SECONDS

say() { printf 'gpu-check: %4d s: %s\n' "$((SECONDS - begun))" "$*" >&2; }

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none OMP_NUM_THREADS="${OMP_NUM_THREADS:-2}"
export OMPI_MCA_plm_rsh_agent="ssh : rsh : true" # of the first that is there; it is never called
export OMPI_MCA_btl="${OMPI_MCA_btl:-^tcp,openib,ofi}" # all ranks are on this host

# run NAME LIMIT COMMAND …: once. Its output goes to NAME.log, its end to NAME.status: ok, skipped or failed, seconds, why.
run() {
    local name="$1" limit="$2" code=0 start=$SECONDS verdict why=""
    shift 2
    say "$name"
    timeout --kill-after=10 "$limit" "$@" >"$state/$name.log" 2>&1 || code=$?
    case "$code" in
        0) verdict=ok ;;
        77) verdict=skipped && why="$(tail -n 1 "$state/$name.log")" ;;
        124 | 137) verdict=failed && why="took longer than $limit s, or was killed" ;;
        *) verdict=failed && why="exit code $code; $(tail -n 1 "$state/$name.log")" ;;
    esac
    # A contract that could not run says so, and so does ncu; whatever the reason, nothing was checked.
    if [[ $verdict == ok ]] && grep -q 'skipped: kernel\|No tests ran\|No test cases matched\|No kernels were profiled' "$state/$name.log"; then
        verdict=failed
        why="$(grep -m 1 -o 'skipped: kernel.*\|No test.*\|No kernels were.*' "$state/$name.log")"
    fi
    # Cells are skipped with a reason: a framework is not installed, say.
    if [[ $verdict == ok ]] && grep -q '^skipped  ' "$state/$name.log"; then
        why="$(grep -c '^skipped  ' "$state/$name.log") cells skipped: "
        why+="$(sed -n 's/^skipped  [^:]*: //p' "$state/$name.log" | head -n 1)"
        ! grep -q '^nothing to run; [0-9]* cells\? skipped' "$state/$name.log" || verdict=skipped
    fi
    printf '%s\t%s\t%s\n' "$verdict" "$((SECONDS - start))" "$why" >"$state/$name.status.new"
    mv "$state/$name.status.new" "$state/$name.status"
    say "$name: $verdict after $((SECONDS - start)) s${why:+ ($why)}"
}

# due NAME LIMIT: whether to run it now.
due() {
    # shellcheck disable=SC2053 # a pattern
    [[ ! -e "$state/$1.status" && $1 == $only ]] || return 1
    [[ $for_s -eq 0 || $((SECONDS - begun + $2)) -le $for_s ]] || { left=1 && return 1; }
}

# stage NAME LIMIT COMMAND …: a test of correctness, beside others. alone: the same with nothing beside it, for times.
stage() {
    due "$1" "$2" || return 0
    while [[ $(jobs -rp | wc -l) -ge $jobs ]]; do wait -n; done
    due "$1" "$2" || return 0
    if [[ $jobs -gt 1 ]]; then run "$@" & else run "$@"; fi
}
alone() {
    due "$1" "$2" || return 0
    wait
    due "$1" "$2" || return 0
    run "$@"
}

# --- stages --------------------------------------------------------------------------------------------------------

device() {
    date -u '+date: %Y-%m-%dT%H:%M:%SZ'
    if command -v nvidia-smi >/dev/null; then
        nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm --format=csv,noheader | sed 's/^/device: /'
    fi
    "$home/bin/gnnbench" version 2>&1 | sed 's/^/gnnbench: /'
    local plugin="$home/lib/gnnbench/plugins/libkernel_cuda.so" missing
    missing="$(ldd "$plugin" 2>&1 | grep 'not found' | sed 's/^[[:space:]]*//')"
    [[ -z $missing ]] || { printf '%s\nthe plugin cuda does not load: %s\n' "$missing" "${missing%%$'\n'*}" && return 1; }
    ldd "$plugin" | sed -n 's/^[[:space:]]*\(lib\(cu\|nccl\)[^ ]* => [^ ]*\).*/\1/p'
    "$home/bin/gnnbench" doctor
    "$home/bin/gnnbench" doctor | grep -q '^ok *kernel cuda' || { echo "doctor does not know the kernel cuda" && return 1; }
    "$home/bin/gnnbench" doctor | grep -o 'kernel cuda *not usable here: .*' && return 77
    return 0
}

kernel() { GNNBENCH_CONTRACT_KERNEL=cuda "$home/bin/contract_kernel"; }
products() { "$home/bin/gpu_products"; }

# One strategy at a number of ranks, which share devices where there are fewer; a sixth of the cases of more than one rank.
strategy() {
    local name="$1" ranks="$2" transport="$3" cases="$4"
    GNNBENCH_CONTRACT="$cases" GNNBENCH_CONTRACT_KERNEL="cuda share_devices=true transport=$transport" \
        mpiexec -n "$ranks" "$home/bin/contract_strategy" '*on every kernel' -c "$name"
}

# compute-sanitizer over tests of the kernel's contract. Each allocation is the driver's, so that the tool sees its bounds; the
# contract asks for too much memory on purpose. Races are looked for in our kernels alone: cuSPARSE's have some.
sanitizer() {
    local tool="$1" tests="$2" options=(--error-exitcode 1)
    [[ $tool != memcheck ]] || options+=(--report-api-errors no)
    [[ $tool != racecheck ]] || options+=(--kernel-name kernel_substring=gnnbench)
    command -v compute-sanitizer >/dev/null || { echo "compute-sanitizer is not on this machine"; return 77; }
    GNNBENCH_CONTRACT_KERNEL="cuda memory_pool=false" \
        compute-sanitizer --tool "$tool" "${options[@]}" "$home/bin/contract_kernel" "$tests"
}

# What bounds our product: bytes and hit rates of each memory, and how busy each unit is.
profile() {
    command -v ncu >/dev/null || { echo "ncu is not on this machine"; return 77; }
    local metrics=gpu__time_duration.sum,dram__bytes.sum,lts__t_bytes.sum,l1tex__t_bytes.sum metric
    for metric in lts__t_sector_hit_rate l1tex__t_sector_hit_rate; do metrics+=",$metric.pct"; done
    for metric in dram__throughput lts__throughput l1tex__throughput sm__throughput sm__warps_active; do
        metrics+=",$metric.avg.pct_of_peak_sustained_elapsed"
    done
    ncu --clock-control none --kernel-name-base function --kernel-name regex:spmm_kernel --launch-skip 1 --launch-count "$2" --csv \
        --print-units base --metrics "$metrics" "$home/bin/gpu_spmm" --ways balanced --rounds 1 --widths "$1" --graphs "$3"
}

# Cells of experiments/gpu/epoch.yaml; prints the table of all that were measured so far.
epochs() {
    "$home/bin/gnnbench" --database "$state/epochs.sqlite" --data-dir "$state/datasets" \
        run "$experiments/epoch.yaml" --allow-programs --only "$@"
}

# Schemes on batches, each verified against the serial reference.
batches() {
    "$home/bin/gnnbench" --database "$state/batches.sqlite" --data-dir "$state/datasets" run "$experiments/batches.yaml"
}

# A rank of a trial that `limits` runs: there may be others on this machine.
own_rank() {
    local pid
    for pid in $(pgrep -x gnnbench-worker); do
        tr '\0' ' ' <"/proc/$pid/cmdline" | grep -qF "$state/limits.sqlite" && echo "$pid" && return 0
    done
    return 1
}

# A trial that runs out of device memory says so, and one whose rank is killed ends; neither leaves anything on the device.
limits() {
    local gnnbench=("$home/bin/gnnbench" --database "$state/limits.sqlite" --data-dir "$state/datasets")
    local pid="" host epochs since
    "${gnnbench[@]}" run "$experiments/limits.yaml" --no-verify --force --only "model.hidden = '60000'" 2>&1 |
        tee "$state/oom.out"
    grep -q ': oom: ' "$state/oom.out" || { echo "no trial ended out of memory"; return 1; }
    "${gnnbench[@]}" run "$experiments/limits.yaml" --no-verify --only "model.hidden = '64'" >"$state/killed.out" 2>&1 &
    host=$!
    for _ in {1..300}; do
        epochs="$("${gnnbench[@]}" query --csv "SELECT count(*) FROM epoch e JOIN trial t ON t.id = e.trial_id
            WHERE t.status = 'running'" 2>/dev/null | sed -n 2p)"
        [[ ${epochs:-0} -gt 0 ]] && pid="$(own_rank)" && break
        sleep 0.2
    done
    if [[ -z $pid ]]; then
        kill "$host"
        wait "$host"
        cat "$state/killed.out"
        echo "no rank recorded an epoch within 60 s"
        return 1
    fi
    kill -9 "$pid"
    since=$SECONDS
    wait "$host"
    cat "$state/killed.out"
    grep -q ': crashed: rank . was killed by signal 9' "$state/killed.out" || { echo "no trial ended as crashed"; return 1; }
    echo "the trial ended $((SECONDS - since)) s after its rank was killed"
    [[ $((SECONDS - since)) -le 5 ]] || return 1
    ! command -v nvidia-smi >/dev/null || nvidia-smi --query-compute-apps=pid,used_memory --format=csv,noheader
}

export home state experiments
export -f device kernel products strategy sanitizer profile epochs batches own_rank limits

run_stage_of() { # HOW NAME LIMIT FUNCTION ARGUMENT …
    local how="$1" name="$2" limit="$3"
    shift 3
    "$how" "$name" "$limit" bash -c '"$@"' _ "$@"
}

# Those that train the whole graph, at a number of ranks that they serve.
strategies() { # RANKS TRANSPORT CASES
    local name suffix="" names=(demirci-p2p cagnet-1d plexus-3d mg-gcn bns-gcn cagnet-2d sa-1d)
    [[ $1 -lt 4 ]] || names+=(cagnet-1.5d sa-1.5d)
    [[ $1 -lt 8 ]] || names+=(cagnet-3d)
    [[ $3 == sixth ]] || suffix="-$3"
    for name in "${names[@]}"; do
        run_stage_of stage "strategy-$name-$1-$2$suffix" 200 strategy "$name" "$@"
    done
}

[[ -e "$state/device.status" ]] || run device 60 bash -c device
if ! grep -q ^ok "$state/device.status"; then
    say "nothing to check: $(cut -f 3 "$state/device.status")"
    cat "$state/device.log"
    rm -f "$state/device.status"
    exit 5
fi
run_stage_of stage kernel 150 kernel
run_stage_of stage products 60 products
run_stage_of stage strategy-serial-1-staged 150 strategy serial 1 staged full
run_stage_of alone spmm-quarter 60 env OMP_NUM_THREADS="$(nproc)" "$home/bin/gpu_spmm" --scale 0.25
run_stage_of alone epochs-first 150 epochs "scheme = 'serial' and dataset.vertices = 612000 and model.depth = 3"
strategies 2 staged sixth
run_stage_of stage memcheck-spmm 150 sanitizer memcheck 'kernel: sparse times dense*'
strategies 2 nccl sixth
strategies 4 staged sixth
run_stage_of alone spmm 60 env OMP_NUM_THREADS="$(nproc)" "$home/bin/gpu_spmm"
# The models that the papers train on these graphs, first; every other pair after them.
published="(dataset.vertices = 612000) = (model.depth = 3)"
for scheme in serial torch.sparse pyg pyg-compiled; do
    run_stage_of alone "epochs-$scheme" 150 epochs "scheme = '$scheme' and $published"
done
for width in 41 128 256; do
    run_stage_of alone "profile-power-law-$width" 60 profile "$width" 2 0
    run_stage_of alone "profile-communities-$width" 60 profile "$width" 2 2
done
run_stage_of stage batches 200 batches
run_stage_of stage limits 120 limits
for tool in racecheck memcheck synccheck initcheck; do
    run_stage_of stage "$tool" 300 sanitizer "$tool" '*'
done
strategies 4 nccl sixth
strategies 8 staged sixth
strategies 2 staged full
for scheme in serial torch.sparse pyg pyg-compiled; do
    run_stage_of alone "epochs-$scheme-more" 300 epochs "scheme = '$scheme'"
done
wait

# --- record --------------------------------------------------------------------------------------------------------

fence="\`\`\`"
fenced() { printf '%s\n%s\n%s\n' "$fence" "$1" "$fence"; }
record="$results/check-$(date -u +%Y-%m-%d).md"
failed="$(cat "$state"/*.status | grep -c ^failed)"
{
    printf '# GPU check of %s\n\n' "$(date -u +%Y-%m-%d)"
    fenced "$(cat "$state/device.log")"
    printf '\n%s stages failed. Ranks that share a device count for correctness only.\n\n' "$failed"
    printf '| stage | end | s | why |\n| --- | --- | --- | --- |\n'
    for status in "$state"/*.status; do
        IFS=$'\t' read -r verdict seconds why <"$status"
        printf '| %s | %s | %s | %s |\n' "$(basename "$status" .status)" "$verdict" "$seconds" "${why//|/\\|}"
    done
    for name in spmm-quarter spmm limits; do
        [[ ! -e "$state/$name.status" ]] || { printf '\n## %s\n\n' "$name" && fenced "$(cat "$state/$name.log")"; }
    done
    # The last of these has the table of all.
    last=""
    for log in "$state"/epochs-*.log; do
        [[ ! -e "$log" || (-n $last && $last -nt $log) ]] || last="$log"
    done
    [[ -z $last ]] || { printf '\n## %s\n\n' "$(basename "$last" .log)" && fenced "$(cat "$last")"; }
    grep -l ^failed "$state"/*.status | while read -r status; do
        printf '\n## %s failed\n\n' "$(basename "$status" .status)" && fenced "$(tail -n 40 "${status%.status}.log")"
    done
} >"$record"
tar -C "$state" -czf "${record%.md}.tar.gz" --exclude=datasets --exclude='*.new' .
say "$failed stages failed; the record is $record, the logs are beside it"
[[ $left -eq 0 ]] || { say "time is up before all stages were run; call again to go on" && exit 75; }
[[ $failed -eq 0 ]]
