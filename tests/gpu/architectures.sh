#!/usr/bin/env bash
# The kernel `cuda` for devices other than the default ones: the code is for those that were asked for, and the program knows it.
# usage: architectures.sh CMAKE SOURCE_FOLDER
set -euo pipefail

cmake="$1" source="$2"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# expect ARCHITECTURES DEVICE_FLAGS OLDEST
expect() {
    "$cmake" -S "$source" -B "$work/build" -G Ninja -DGNNBENCH_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES="$1" >"$work/out" 2>&1 ||
        { tail -n 40 "$work/out" && exit 1; }
    local wanted
    for wanted in "$2" "-DGNNBENCH_CUDA_OLDEST_ARCH=$3 "; do
        grep -q -- "$wanted" "$work/build/build.ninja" && continue
        echo "architectures $1: \"$wanted\" is in no command; there are:"
        grep -o -- 'arch=compute[^ ]*\|-DGNNBENCH_CUDA_OLDEST_ARCH=[0-9]*' "$work/build/build.ninja" | sort -u
        exit 1
    done
}

expect 75 'arch=compute_75,code=\[compute_75,sm_75\]' 75
expect '80-real;75-real' 'arch=compute_75,code=\[sm_75\]' 75
