#!/usr/bin/env bash
# What a machine may lack or refuse: mpiexec, the worker, a place to write, room on the disk.
# shellcheck source=tests/endtoend/lib.sh
source "$(dirname "$0")/lib.sh"
tiny_experiment tiny.yaml

GNNBENCH_MPIEXEC=no-such-mpiexec gnnbench run tiny.yaml
expect_code 5 "no mpiexec"
expect_text err "no mpiexec found" "no mpiexec"
expect_plain_error "no mpiexec"
GNNBENCH_MPIEXEC=no-such-mpiexec gnnbench doctor
expect_code 5 "doctor without mpiexec"
expect_text out "no mpiexec found" "doctor without mpiexec"

# Ranks run the worker of the MPI that mpiexec is of; where there is none, which there is.
cat >other-mpiexec <<'SH'
#!/bin/sh
[ "$1" = --version ] && { echo "$OTHER_MPI"; exit 0; }
printf '%s\n' "$3"
exit 1
SH
chmod +x other-mpiexec
mkdir one-worker && ln -s "$bin"/../lib "$bin"/../share . && cp "$bin/gnnbench" "$bin/gnnbench-worker" one-worker/
for OTHER_MPI in "HYDRA build details: Version: 4.0.2" "mpiexec (Open MPI) 5.0.11"; do
    export OTHER_MPI GNNBENCH_MPIEXEC="$work/other-mpiexec"
    suffix=mpich name=MPICH
    [[ "$OTHER_MPI" == HYDRA* ]] || suffix=openmpi name="Open MPI"
    # Not by a pipe, which ends ldd, and so fails, where grep has seen enough.
    library='libmpi.so.40'
    [[ $suffix != mpich ]] || library=libmpich
    if [[ "$(ldd "$bin/gnnbench-worker")" == *"$library"* ]]; then
        gnnbench doctor
        refuse_text out 'gnnbench-worker-' "the worker of the MPI of this build"
        continue
    fi
    if [[ -x "$bin/gnnbench-worker-$suffix" ]]; then
        gnnbench doctor
        expect_text out "/gnnbench-worker-$suffix" "the worker of the other MPI"
    fi
    code=0
    one-worker/gnnbench run tiny.yaml >out 2>err || code=$?
    expect_code 5 "an mpiexec of another MPI"
    expect_text err "is $name" "an mpiexec of another MPI"
    expect_text err "a worker for" "an mpiexec of another MPI"
    expect_plain_error "an mpiexec of another MPI"
done
unset OTHER_MPI GNNBENCH_MPIEXEC
GNNBENCH_WORKER=/nowhere/worker gnnbench run tiny.yaml
expect_code 5 "no worker"
expect_text err "/nowhere/worker" "no worker"
expect_no_processes 1 "nothing was started"

gnnbench run tiny.yaml --database tiny.yaml/results.sqlite
expect_code 5 "a database in what is no folder"
expect_text err "tiny.yaml/results.sqlite" "a database in what is no folder"
printf 'no database at all, but a text that is long enough to be looked at' >text.sqlite
gnnbench run tiny.yaml --database text.sqlite
expect_code 5 "a file that is no database"
expect_plain_error "a file that is no database"

# A standard output that is closed or full.
code=0
"$bin/gnnbench" plugin list >/dev/full 2>"$work/err" || code=$?
expect_code 5 "a full standard output"
expect_plain_error "a full standard output"

# Nested: an environment that marks us as a rank of another MPI program.
OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=4 PMIX_NAMESPACE=other PMIX_RANK=0 \
    gnnbench run tiny.yaml --set gpus=2 --set scheme=mg-gcn --set trials=1
expect_code 0 "a run from within a rank of another MPI program"

# Disks that cannot be written, as root may mount them.
mkdir disk
if ! mount -t tmpfs -o size=2m tmpfs disk 2>/dev/null; then
    echo "ok (a full and a read-only disk were not tried: mounting needs root)"
    exit 0
fi
# shellcheck disable=SC2016,SC2034 # for the trap of lib.sh
cleanup=(eval 'umount -l disk; rm -rf "$work"')
gnnbench run tiny.yaml --database disk/results.sqlite
expect_code 0 "a run on a small disk"
measured="$(GNNBENCH_DATABASE=disk/results.sqlite ask "SELECT count(*) FROM epoch")"

dd if=/dev/zero of=disk/filler bs=4k 2>/dev/null || true
gnnbench run tiny.yaml --rerun --database disk/results.sqlite
expect_code 5 "a full disk"
expect_plain_error "a full disk"
expect_no_processes 5 "a full disk"
rm disk/filler
gnnbench run tiny.yaml --database disk/results.sqlite
expect_code 0 "the disk has room again"
now="$(GNNBENCH_DATABASE=disk/results.sqlite ask "SELECT count(*) FROM epoch")"
[[ "$now" -ge "$measured" ]] || fail "a full disk: $measured epochs were stored, $now are"

mount -o remount,ro disk
gnnbench run tiny.yaml --rerun --database disk/results.sqlite
expect_code 5 "a read-only database"
expect_text err "disk/results.sqlite" "a read-only database"
expect_plain_error "a read-only database"
gnnbench query "SELECT count(*) FROM epoch" --database disk/results.sqlite
expect_code 0 "a query of a read-only database"
echo ok
