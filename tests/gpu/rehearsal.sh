#!/usr/bin/env bash
# gpu-check.sh with the emulated plugin: what it records, and that nothing is green where nothing was checked.
# usage: rehearsal.sh BUILD_FOLDER SOURCE_FOLDER
set -euo pipefail

build="$1" source="$2"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
plugins="$work/home/lib/gnnbench/plugins"
mkdir -p "$plugins"
ln -s "$build/bin" "$work/home/bin"
cp "$build/emulated/libkernel_cuda.so" "$plugins/"
ln -s "$build"/lib/libgnnbench_*.so* "$work/home/lib/"
export LD_LIBRARY_PATH="$work/home/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export GNNBENCH_HOME="$work/home" GNNBENCH_GPU_STATE="$work/state" GNNBENCH_GPU_RESULTS="$work/results"
export GNNBENCH_GPU_EXPERIMENTS="$source/experiments/gpu" GNNBENCH_PLUGIN_PATH="$build/emulated" GNNBENCH_EMULATED_DEVICES=1

fail() { echo "rehearsal: $*" >&2 && cat "$work/out" >&2 && exit 1; }

# check CODE ARGUMENT …: runs it, and expects this exit code.
check() {
    local expected="$1" code=0
    shift
    "$source/tests/gpu/gpu-check.sh" "$@" >"$work/out" 2>&1 || code=$?
    [[ $code -eq $expected ]] || fail "gpu-check $* ended with $code, not $expected"
}
says() { grep -q -- "$1" "$work/out" || fail "it does not say \"$1\""; }

check 2 --nonsense
# Too little time for any stage: nothing is run, and that is not success.
check 75 --for 10 --only 'strategy-serial*'
[[ ! -e "$work/state/strategy-serial-1-staged.status" ]] || fail "a stage began that could not end in time"

check 0 --jobs 2 --only '@(strategy-serial-1-staged|strategy-demirci-p2p-2-nccl|limits)'
record="$(echo "$work"/results/*.md)"
for name in device strategy-serial-1-staged strategy-demirci-p2p-2-nccl limits; do
    grep -q "^| $name | ok |" "$record" || fail "the record does not say that $name passed: $(cat "$record")"
done
tar -tzf "${record%.md}.tar.gz" | grep -q '^./limits.log$' || fail "the logs of stages are not in their archive"
grep -q 'the trial ended [0-5] s after its rank was killed' "$work/state/limits.log" || fail "$(cat "$work/state/limits.log")"

# A machine without a device.
rm -rf "$work/state" "$work/results"
GNNBENCH_EMULATED_DEVICES=0 check 5
says 'no CUDA device'
[[ -z "$(ls "$work/results")" ]] || fail "a record was written where nothing ran"

# A plugin that does not load: its stage fails, and names the library.
echo 'int missing() { return 0; }' | "${CC:-cc}" -shared -fPIC -x c - -Wl,-soname,libmissing.so.1 -o "$work/libmissing.so.1"
echo 'int missing(); int f() { return missing(); }' |
    "${CC:-cc}" -shared -fPIC -x c - -x none "$work/libmissing.so.1" -o "$plugins/libkernel_cuda.so"
rm "$work/libmissing.so.1"
check 5
says 'does not load: libmissing.so.1 => not found'
