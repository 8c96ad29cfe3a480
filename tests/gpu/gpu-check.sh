#!/usr/bin/env bash
# Everything that needs a GPU, stage by stage, and a dated record of it. Each stage ends in under 8 minutes; what has ended is
# not run again, so that a call that was cut off goes on where it stopped. From the bundle: ./gpu-check. From a checkout:
# ./dev gpu-check.
#   --for SECONDS   start no stage that could end later than this; exit code 75 says that more is to do
#   --fresh         forget what was run before
set -uo pipefail

home="${GNNBENCH_HOME:?the folder with bin/gnnbench}"
state="${GNNBENCH_GPU_STATE:-$PWD/gpu-check-state}"
results="${GNNBENCH_GPU_RESULTS:-$PWD/results/gpu}"
experiments="${GNNBENCH_GPU_EXPERIMENTS:-$home/share/gnnbench/experiments/gpu}"
stage_s=470
for_s=0
while [[ $# -gt 0 ]]; do
    case "$1" in
        --for) for_s="$2" && shift 2 ;;
        --fresh) rm -rf "$state" && shift ;;
        *) echo "gpu-check: --for SECONDS and --fresh are known, \"$1\" is not" >&2 && exit 2 ;;
    esac
done
mkdir -p "$state" "$results"
begun=$SECONDS

say() { printf 'gpu-check: %s\n' "$*" >&2; }

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none OMP_NUM_THREADS="${OMP_NUM_THREADS:-2}"

# stage NAME COMMAND …: runs it once. Its output goes to NAME.log, its end to NAME.status: ok, skipped or failed, seconds, why.
stage() {
    local name="$1" code=0 start=$SECONDS verdict why=""
    shift
    [[ ! -e "$state/$name.status" ]] || return 0
    if [[ $for_s -gt 0 && $((SECONDS - begun + stage_s)) -gt $for_s && $SECONDS -gt $((begun + 5)) ]]; then
        say "time is up before stage $name; call again to go on"
        exit 75
    fi
    say "$name"
    timeout --kill-after=10 "$stage_s" "$@" >"$state/$name.log" 2>&1 || code=$?
    case "$code" in
        0) verdict=ok ;;
        77) verdict=skipped && why="$(tail -n 1 "$state/$name.log")" ;;
        124 | 137) verdict=failed && why="took longer than $stage_s s, or was killed" ;;
        *) verdict=failed && why="exit code $code; $(tail -n 1 "$state/$name.log")" ;;
    esac
    # A contract that could not run says so and passes.
    if [[ $verdict == ok ]] && grep -q 'skipped: kernel cuda' "$state/$name.log"; then
        verdict=skipped
        why="$(grep -m 1 -o 'skipped: kernel cuda.*' "$state/$name.log")"
    fi
    printf '%s\t%s\t%s\n' "$verdict" "$((SECONDS - start))" "$why" >"$state/$name.status.new"
    mv "$state/$name.status.new" "$state/$name.status"
    say "$name: $verdict after $((SECONDS - start)) s${why:+ ($why)}"
}

# --- stages --------------------------------------------------------------------------------------------------------

device() {
    date -u '+date: %Y-%m-%dT%H:%M:%SZ'
    if command -v nvidia-smi >/dev/null; then
        nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm --format=csv,noheader | sed 's/^/device: /'
    fi
    "$home/bin/gnnbench" version 2>&1 | sed 's/^/gnnbench: /'
    "$home/bin/gnnbench" doctor || true
    "$home/bin/gnnbench" doctor | grep -q 'kernel cuda.*not usable here' &&
        { "$home/bin/gnnbench" doctor | grep -o 'not usable here: .*'; return 77; }
    return 0
}

# One strategy at a number of ranks, which share devices where there are fewer.
strategy() {
    local name="$1" ranks="$2" transport="$3"
    GNNBENCH_CONTRACT_KERNEL="cuda share_devices=true transport=$transport" \
        mpiexec -n "$ranks" "$home/bin/contract_strategy" '*on every kernel' -c "$name"
}

sanitizer() {
    local tool="$1"
    command -v compute-sanitizer >/dev/null || { echo "compute-sanitizer is not on this machine"; return 77; }
    GNNBENCH_CONTRACT_KERNEL=cuda compute-sanitizer --tool "$tool" --error-exitcode 1 "$home/bin/contract_kernel" '~*prepared'
}

# One scheme of experiments/gpu/epoch.yaml; each prints the table of all that were measured so far.
epochs() {
    local database="$state/epochs.sqlite"
    "$home/bin/gnnbench" --database "$database" --data-dir "$state/datasets" run "$experiments/epoch.yaml" --only "scheme = '$1'"
}

export home state experiments
export -f device strategy sanitizer epochs

stage device bash -c device
if grep -q ^skipped "$state/device.status"; then
    say "nothing to check: $(cut -f 3 "$state/device.status")"
    rm -f "$state/device.status"
    exit 5
fi
stage kernel env GNNBENCH_CONTRACT_KERNEL=cuda "$home/bin/contract_kernel"
for ranks in 1 2 4; do
    for transport in staged nccl; do
        [[ $ranks -gt 1 || $transport == staged ]] || continue
        for plugin in "$home"/lib/gnnbench/plugins/libstrategy_*.so; do
            name="$(basename "$plugin" .so)"
            name="${name#libstrategy_}"
            stage "strategy-$name-$ranks-$transport" bash -c 'strategy "$@"' _ "$name" "$ranks" "$transport"
        done
    done
done
stage memcheck bash -c 'sanitizer memcheck'
stage racecheck bash -c 'sanitizer racecheck'
stage spmm "$home/bin/gpu_spmm"
for scheme in serial torch.sparse pyg pyg-compiled; do
    stage "epochs-$scheme" bash -c 'epochs "$1"' _ "$scheme"
done

# --- record --------------------------------------------------------------------------------------------------------

record="$results/$(date -u +%Y-%m-%d).md"
fence="\`\`\`"
failed="$(cat "$state"/*.status | grep -c ^failed)"
{
    printf '# GPU check of %s\n\n' "$(date -u +%Y-%m-%d)"
    printf '%s\n%s\n%s\n\n' "$fence" "$(cat "$state/device.log")" "$fence"
    printf '%s stages failed. Ranks that share a device count for correctness only.\n\n' "$failed"
    printf '| stage | end | s | why |\n| --- | --- | --- | --- |\n'
    for status in "$state"/*.status; do
        IFS=$'\t' read -r verdict seconds why <"$status"
        printf '| %s | %s | %s | %s |\n' "$(basename "$status" .status)" "$verdict" "$seconds" "${why//|/\\|}"
    done
    for name in spmm epochs-serial epochs-pyg-compiled; do
        printf '\n## %s\n\n%s\n%s\n%s\n' "$name" "$fence" "$(cat "$state/$name.log")" "$fence"
    done
} >"$record"
say "$failed stages failed; the record is $record"
[[ $failed -eq 0 ]]
