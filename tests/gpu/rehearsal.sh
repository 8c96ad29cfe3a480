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

# Smaller graphs: H¹ [15,000 × 60,000] of a rank takes 3.6 GB, and the emulated device has 2 GiB.
mkdir -p "$work/experiments/gpu"
sed 's/1000000/30000/; s/20000/2000/' "$source/experiments/gpu/limits.yaml" >"$work/experiments/gpu/limits.yaml"
GNNBENCH_GPU_EXPERIMENTS="$work/experiments/gpu" check 0 --for 900 --jobs 2 \
    --only '@(strategy-serial-1-staged|strategy-demirci-p2p-2-nccl|limits)'
record="$(echo "$work"/results/*.md)"
for name in device strategy-serial-1-staged strategy-demirci-p2p-2-nccl limits; do
    grep -q "^| $name | ok |" "$record" || fail "the record does not say that $name passed: $(cat "$record")"
done
[[ $'\n'"$(tar -tzf "${record%.md}.tar.gz")"$'\n' == *$'\n./limits.log\n'* ]] || fail "the logs of stages are not in their archive"
grep -q 'the trial ended [0-5] s after its rank was killed' "$work/state/limits.log" || fail "$(cat "$work/state/limits.log")"

# The sanitizer's stages take each block from the driver, and have prepared products among what they run, of which
# contract_kernel chooses each kind in turn.
mkdir "$work/tools"
cat >"$work/tools/compute-sanitizer" <<'TOOL'
#!/usr/bin/env bash
echo "compute-sanitizer $*, kernel $GNNBENCH_CONTRACT_KERNEL"
"${@:$#-1:1}" --list-tests "${!#}" || true
TOOL
printf '#!/usr/bin/env bash\necho "==WARNING== No kernels were profiled."\n' >"$work/tools/ncu"
chmod +x "$work/tools/compute-sanitizer" "$work/tools/ncu"
PATH="$work/tools:$PATH" check 0 --only '@(memcheck-spmm|racecheck)'
for name in memcheck-spmm racecheck; do
    grep -q -- '--tool .*, kernel cuda memory_pool=false$' "$work/state/$name.log" || fail "$(cat "$work/state/$name.log")"
    grep -q 'kernel: sparse times dense, prepared' "$work/state/$name.log" || fail "$(cat "$work/state/$name.log")"
done

PATH="$work/tools:$PATH" check 1 --only profile-power-law-41
says 'profile-power-law-41: failed .*No kernels were profiled'
rm "$work/state/profile-power-law-41.status"

# A framework that is not installed: its stage is skipped. A device that fails: so does the stage.
mkdir "$work/without-torch"
cp -r "$source/experiments/baselines" "$work/experiments/"
sed 's/vertices: [0-9]*/vertices: 300/; s/average_degree: [0-9]*/average_degree: 9/; s/features: [0-9]*/features: 8/' \
    "$source/experiments/gpu/epoch.yaml" >"$work/experiments/gpu/epoch.yaml"
echo 'raise ModuleNotFoundError("there is no torch here", name="torch")' >"$work/without-torch/torch.py"
# The environments that setup.sh makes may be there.
PYTHONPATH="$work/without-torch" GNNBENCH_BASELINES="$work/none" GNNBENCH_GPU_EXPERIMENTS="$work/experiments/gpu" check 0 --only epochs-torch.sparse
says 'epochs-torch.sparse: skipped .* cells\? skipped: program torch.sparse: the Python package torch is not installed'
GNNBENCH_EMULATED_LAUNCH_FAILS=1 check 1 --only spmm-quarter
says 'spmm-quarter: failed .*exit code 5'

# The bundle finds CUDA's libraries beside Python's packages, too.
mkdir -p "$work/home/lib/c++" "$work/site/nvidia/nccl/lib"
echo libstdc++.so.6.0.30 >"$work/home/lib/c++/version"
touch "$work/site/nvidia/nccl/lib/libnccl.so.2"
printf '#!/usr/bin/env bash\necho "%s"\n' "$work/site" >"$work/tools/python3"
chmod +x "$work/tools/python3"
found="$(PATH="$work/tools:$PATH" bash -c "here='$work/home'; source '$source/tests/gpu/environment.sh'; echo \"\$LD_LIBRARY_PATH\"")"
[[ ":$found:" == *":$work/site/nvidia/nccl/lib:"* ]] || fail "NCCL beside Python's packages is not in $found"

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
for program in contract_kernel contract_strategy gpu_products; do
    ! GNNBENCH_PLUGIN_PATH="$plugins" GNNBENCH_CONTRACT_KERNEL=cuda "$build/bin/$program" '*kernel*,cuda:*' >"$work/out" 2>&1 ||
        fail "$program passes without the kernel that it is asked for"
    said="$(tr -s '[:space:]' ' ' <"$work/out")" # Catch breaks lines
    [[ $said == *'there is no such kernel'* || $said == *'is not a gnnbench plugin'* ]] ||
        fail "$program does not say that the kernel is missing"
done
