#!/usr/bin/env bash
# Only workers load MPI: the program, the libraries and every plugin serve any.
set -euo pipefail
here="$(cd -- "$1/.." && pwd)"

# mpi_of FILE …: the libraries of MPI that they load, directly or through others.
mpi_of() { ldd "$@" 2>/dev/null | grep -oE 'libmpi(ch)?\.so[^ ]*' | sort -u || true; }
fail() {
    printf 'FAILED: %s\n' "$*"
    exit 1
}

for file in "$here"/bin/gnnbench "$here"/lib/libgnnbench_*.so "$here"/lib/gnnbench/plugins/*.so; do
    found="$(mpi_of "$file")"
    [[ -z "$found" ]] || fail "$file loads $found"
    # Nor does it call MPI and leave it to others to load the library. A weak symbol may stay undefined.
    found="$(nm --dynamic --undefined-only "$file" | grep -oE ' U P?MPI_[A-Za-z_]+' | head -n 3 | tr '\n' ' ' || true)"
    [[ -z "$found" ]] || fail "$file calls$found"
done
for worker in "$here"/bin/gnnbench-worker*; do
    [[ "$(mpi_of "$worker" | wc -l)" -eq 1 ]] || fail "$worker should load one MPI; it loads: $(mpi_of "$worker" | tr '\n' ' ')"
done
