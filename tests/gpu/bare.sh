#!/usr/bin/env bash
# The bundle in a root file system that has nothing but a shell, its tools, Python, and CUDA's libraries beside Python's
# packages: it unpacks, finds its libraries and says at its first stage that there is no CUDA device, without a driver
# (error 35) and with the toolkit's stub of one (34). Needs root and, where no folder of wheels is given, PyPI.
# usage: bare.sh BUNDLE.tar.xz [WHEELS]
set -euo pipefail
bundle="$(readlink -f "$1")" wheels="${2:-}"
toolkit="${CUDA_HOME:-/usr/local/cuda}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
root="$work/root"

fail() { echo "bare: $*" >&2 && cat "$work/out" >&2 && exit 1; }

[[ $(stat -c %s "$bundle") -le $((64 << 20)) ]] || { echo "bare: the bundle is larger than 64 MiB" >&2 && exit 1; }

# Programs with what they load, each where it is here.
python="$(readlink -f /usr/bin/python3)"
programs=(/usr/bin/env "$(readlink -f /bin/sh)" "$python" "$(PATH="$PATH:/sbin:/usr/sbin" command -v ldconfig)")
for name in bash awk basename cat chmod cp cut date dirname find grep head hostname id ldd ls mkdir mktemp mv nproc ps readlink rm \
    sed seq sleep sort tail tar tee timeout touch tr true uname uniq wc xargs xz; do
    [[ -z "$(type -P "$name")" ]] || programs+=("$(type -P "$name")")
done
mkdir -p "$root"/{bin,dev,etc,home,lib64,proc,sys,tmp,usr/bin}
# copied FILE …: under the same path, and what a link points to.
copied() { tar -ch --ignore-failed-read "$@" 2>/dev/null | tar -x -C "$root"; }
mapfile -t libraries < <(ldd "${programs[@]}" "/usr/lib/$(basename "$python")"/lib-dynload/_ctypes.*.so 2>/dev/null | sed -n 's/^.*=> \(\/[^ ]*\) (.*$/\1/p' | sort -u)
copied "${programs[@]}" "${libraries[@]}"
# All of glibc, as every machine has it.
glibc="$(dirname "$(printf '%s\n' "${libraries[@]}" | grep -m 1 '/libc\.so')")"
copied "$glibc"/lib{dl,pthread,rt,m,util,resolv}.so.[0-9]
cp -L /lib64/ld-linux-x86-64.so.2 "$root/lib64/"
for name in bash sh; do [[ -e "$root/bin/$name" ]] || cp -L "/bin/$name" "$root/bin/$name"; done
ln -sf "$(basename "$python")" "$root/usr/bin/python3"
copied "/usr/lib/$(basename "$python")"

if [[ -z $wheels ]]; then
    wheels="$work/wheels"
    python3 -m pip download --quiet --no-deps --dest "$wheels" 'nvidia-cuda-runtime==13.0.*' 'nvidia-cublas==13.0.*' \
        'nvidia-cusparse==12.6.*' 'nvidia-nvjitlink==13.0.*' 'nvidia-nccl-cu13>=2.18'
fi
packages="$root/$(chroot "$root" /usr/bin/python3 -c 'import site; print(site.getsitepackages()[0])')"
mkdir -p "$packages"
for wheel in "$wheels"/*.whl; do python3 -m zipfile -e "$wheel" "$packages"; done

# device_count: what cudaGetDeviceCount returns there.
device_count() {
    local runtime
    runtime="$(find "$packages" -name 'libcudart.so.*' -print -quit)"
    chroot "$root" /usr/bin/python3 -c 'import ctypes, sys
print(ctypes.CDLL(sys.argv[1]).cudaGetDeviceCount(ctypes.byref(ctypes.c_int())))' "${runtime#"$root"}"
}

# says WORDS ERROR: unpacks the bundle and runs it, which ends within 20 s with exit code 5 and these words.
says() {
    local start=$SECONDS code=0
    [[ $(device_count) -eq $2 ]] || { echo "bare: cudaGetDeviceCount returns $(device_count), not $2" >&2 && exit 1; }
    rm -rf "${root:?}/home" && mkdir "$root/home"
    # shellcheck disable=SC2016 # for the shell within
    unshare --mount bash -c 'mount --bind /proc "$1/proc" && mount --bind /dev "$1/dev" && mount --bind /sys "$1/sys" && cd "$1/home" && shift &&
        exec chroot "$0" /bin/bash -c "cd /home && tar -xJf /bundle.tar.xz && exec gnnbench-*/gpu-check"' \
        "$root" "$root" >"$work/out" 2>&1 || code=$?
    [[ $code -eq 5 ]] || fail "gpu-check ended with $code, not 5"
    grep -q "$1" "$work/out" || fail "it does not say \"$1\""
    [[ $((SECONDS - start)) -le 20 ]] || fail "it took $((SECONDS - start)) s"
    for library in libcudart libcublas libcusparse libnccl; do
        grep -q "$library.* => /.*/nvidia/" "$work/out" || fail "$library is not found beside Python's packages"
    done
    echo "$(grep -m 1 -o "$1.*" "$work/out"), after $((SECONDS - start)) s"
}
cp "$bundle" "$root/bundle.tar.xz"
says 'no CUDA device (driver not found' 35
if [[ -e "$toolkit/lib64/stubs/libcuda.so" ]]; then
    cp "$toolkit/lib64/stubs/libcuda.so" "$root/$glibc/libcuda.so.1"
    says 'no CUDA device' 34
fi
