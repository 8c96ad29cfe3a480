# shellcheck shell=bash disable=SC2016,SC2034,SC2154,SC2317 # shared with lib.sh; other shells expand what is quoted
# Sourced before lib.sh by tests of several hosts: as many hosts as wanted, which are namespaces of this machine. Each has a
# name, processes, a network card, /tmp and /dev/shm of its own; all share the test's scratch folder, as hosts of a cluster
# share a file system, and a switch (a bridge). The test itself runs in namespaces, too, so that everything ends with it.
here="$(cd -- "$(dirname "${BASH_SOURCE[0]}")" && pwd)"

# skip REASON: ctest counts exit code 77 as skipped.
skip() {
    printf 'skipped: %s\n' "$*"
    exit 77
}

# Starts this script again, in namespaces.
if [[ -z "${GNNBENCH_TEST_NAMESPACES:-}" ]]; then
    [[ $EUID -eq 0 ]] || skip "network namespaces need root"
    for program in unshare nsenter ip tc python3; do
        command -v "$program" >/dev/null || skip "no $program here (Debian: util-linux, iproute2, python3)"
    done
    why="$(unshare --net --uts --mount --pid --fork --mount-proc bash -ec 'mount -t tmpfs tmpfs /mnt
        ip link add port0 type veth peer name port1; ip link add switch type bridge' 2>&1)" ||
        skip "this machine makes no namespaces, virtual network cards or mounts: $why"
    GNNBENCH_TEST_NAMESPACES=1 exec unshare --net --mount --pid --fork --kill-child --mount-proc "$0" "$@"
fi

host_pids=()
cables=()

# start_hosts COUNT: h0, h1, …; h0 is the one on which a user types commands.
start_hosts() {
    local i
    ip link set lo up
    ip link add switch type bridge
    ip link set switch up
    echo "127.0.0.1 localhost" >names
    for ((i = 0; i < $1; i++)); do echo "10.77.0.$((i + 1)) h$i" >>names; done
    printf '#!/bin/sh\nexec python3 %q %q "$@"\n' "$here/remote_shell.py" "$work/shell" >ssh
    chmod +x ssh
    python3 "$here/remote_shell.py" serve shell . 2>shell.err &
    for ((i = 0; i < $1; i++)); do start_host "$i"; done
    write_mpiexec
    gnnbench() { # as in lib.sh, on h0
        code=0
        on h0 "$bin/gnnbench" "$@" >"$work/out" 2>"$work/err" || code=$?
    }
}

# start_host INDEX: also one that has lost its power.
start_host() {
    rm -f ready "h$1.off"
    unshare --net --uts --mount --pid --fork --kill-child --mount-proc bash -ec '
        cd "$1"
        hostname "$2"
        exec 8<"$1" 9<"$3" # so that they can be mounted again should they be in /tmp
        for folder in /dev/shm /tmp; do mount -t tmpfs tmpfs "$folder"; done
        mkdir -p "$1" "$3"
        [[ "$1" -ef /proc/self/fd/8 ]] || mount --no-canonicalize --bind /proc/self/fd/8 "$1"
        [[ "$3" -ef /proc/self/fd/9 ]] || mount --no-canonicalize --bind /proc/self/fd/9 "$3"
        cd "$1"
        mount --bind names /etc/hosts
        touch ready
        exec 8<&- 9<&-
        exec sleep infinity' host "$work" "h$1" "$(dirname "$bin")" 2>"host$1.err" &
    until [[ -e ready ]]; do
        kill -0 $! 2>/dev/null || fail "host h$1 does not start: $(cat "host$1.err")"
        sleep 0.05
    done
    host_pids[$1]="$(pgrep -P $!)"
    echo "${host_pids[$1]}" >"h$1.pid"
    plug_in "$1"
    nsenter -t "${host_pids[$1]}" --net ip link set lo up
}

# plug_in INDEX: a network card, by a cable to the switch.
plug_in() {
    if [[ -n "${cables[$1]:-}" ]]; then
        kill "${cables[$1]}"
        wait "${cables[$1]}" || true
        unset "cables[$1]"
    fi
    ip link delete "port$1" 2>/dev/null || true
    ip link add "port$1" type veth peer name net0 netns "${host_pids[$1]}"
    ip link set "port$1" master switch up
    give_address "$1"
}
give_address() {
    nsenter -t "${host_pids[$1]}" --net bash -ec "ip addr add 10.77.0.$(($1 + 1))/24 dev net0; ip link set net0 up"
}

# lengthen INDEX MILLISECONDS: another cable, on which frames take that long; until plug_in.
lengthen() {
    ip link delete "port$1"
    python3 "$here/long_cable.py" "${host_pids[$1]}" net0 "port$1" "$2" 2>"cable$1.err" &
    cables[$1]=$!
    until nsenter -t "${host_pids[$1]}" --net ip link show net0 >/dev/null 2>&1; do
        kill -0 "${cables[$1]}" || fail "no long cable: $(cat "cable$1.err")"
        sleep 0.05
    done
    ip link set "port$1" master switch up
    give_address "$1"
}

# unplug INDEX, replug INDEX: the cable.
unplug() { ip link set "port$1" down; }
replug() { ip link set "port$1" up; }

# received_bytes: of the network card that `ip -json -statistics link show` shows.
received_bytes() { python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["stats64"]["rx"]["bytes"])'; }
# sent_by INDEX: bytes that came through its cable so far.
sent_by() { ip -json -statistics link show "port$1" | received_bytes; }
# sent_within INDEX: bytes that its processes sent one another by TCP.
sent_within() { on "h$1" ip -json -statistics link show lo | received_bytes; }

# power_off INDEX: nothing is said to anyone any more.
power_off() {
    touch "h$1.off"
    unplug "$1"
    kill -KILL "${host_pids[$1]}"
}

# crash INDEX: its processes are gone, and its network stack says so.
crash() { kill -KILL "${host_pids[$1]}"; }

# on HOST COMMAND …: with this environment, in this folder.
on() {
    local pid="${host_pids[${1#h}]}"
    shift
    nsenter -t "$pid" --net --uts --mount --pid -- bash -c 'cd "$0" && exec "$@"' "$PWD" "$@"
}

# expect_reason PATTERN WHAT: of the trial that was recorded last.
expect_reason() {
    local reason
    reason="$("$bin/gnnbench" query --csv "SELECT reason FROM trial ORDER BY id DESC LIMIT 1" | tail -n +2)"
    # shellcheck disable=SC2053 # a pattern
    [[ "$reason" == $1 ]] || fail "$2: expected '$1' as the reason, found '$reason'"
}

# use_hosts NAME …: ranks go to these, one after the other.
use_hosts() { printf '%s\n' "$@" >hosts; }

# What a user writes to have gnnbench start ranks on the hosts in a file; docs/clusters.md shows it. `mpi` is Open MPI or MPICH.
write_mpiexec() {
    local real version
    real="$(sed -n 's/^MPIEXEC_EXECUTABLE:[A-Z]*=//p' "$bin/../CMakeCache.txt")"
    version="$("$real" --version)"
    case "$version" in
        *OpenRTE*)
            mpi="Open MPI"
            cat >mpiexec <<MPIEXEC
#!/usr/bin/env bash
given=()
for name in GNNBENCH_{TEST,TRIAL,HOST_LIMIT,YIELD} OMP_NUM_THREADS OPENBLAS_NUM_THREADS OMP_WAIT_POLICY; do
    [[ -z "\${!name:-}" ]] || given+=(-x "\$name")
done
sed 's/\$/ slots=8/' $work/hosts >$work/slots
exec $real --hostfile $work/slots --map-by node --mca plm_rsh_agent $work/ssh "\${given[@]}" "\$@"
MPIEXEC
            export OMPI_MCA_btl=tcp,vader,self OMPI_MCA_btl_tcp_if_include=10.77.0.0/24 OMPI_MCA_oob_tcp_if_include=10.77.0.0/24
            ;;
        *HYDRA*)
            mpi=MPICH
            cat >mpiexec <<MPIEXEC
#!/bin/sh
exec $real -f $work/hosts -iface net0 -launcher ssh -launcher-exec $work/ssh "\$@"
MPIEXEC
            # By cable and memory, whichever of its two networks it was built with.
            export UCX_NET_DEVICES=net0 UCX_TLS=tcp,self,posix,sysv FI_PROVIDER=tcp FI_TCP_IFACE=net0
            ;;
        *) skip "several hosts are tested with Open MPI 4 and MPICH; this build has '$real'" ;;
    esac
    chmod +x mpiexec
    export GNNBENCH_MPIEXEC="$work/mpiexec"
}
