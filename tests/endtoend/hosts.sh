#!/usr/bin/env bash
# Trials over several hosts, which are network namespaces of this machine (several_hosts.sh): what is verified and measured
# there, over a slow network, with clocks that differ, and with files that appear late.
# shellcheck source=tests/endtoend/several_hosts.sh
source "$(dirname "$0")/several_hosts.sh"
# shellcheck source=tests/endtoend/lib.sh
source "$here/lib.sh"
start_hosts 3
ok="SELECT count(*) FROM trial WHERE purpose = 'measure' AND status = 'ok'"
verified="SELECT count(*) FROM verifications WHERE status = 'verified'"
begin_anew() { rm -rf gnnbench.sqlite*; }

tiny_experiment tiny.yaml
cat >hosts.yaml <<'YAML'
imports: [tiny.yaml]
name: hosts
matrix:
  scheme: [mg-gcn, sa-1d, cagnet-2d]
  gpus: [2, 4]
trials: 1
YAML
use_hosts h0 h1 h2
# MG-GCN on two ranks, the others on four.
gnnbench run hosts.yaml --where "(scheme = 'mg-gcn') = (gpus = 2)"
expect_code 0 "schemes on three hosts"
expect_value "$ok" 3 "schemes on three hosts"
expect_value "$verified" 6 "schemes on three hosts are verified, before and late"
expect_value "SELECT count(DISTINCT host) FROM trial_rank" 3 "four ranks are on three hosts"
expect_value "SELECT count(*) FROM trials WHERE purpose = 'measure' AND notes LIKE '%transport: mpi (not all ranks on one host)%'" \
    3 "between hosts messages go by MPI"
expect_value "SELECT count(*) FROM trials WHERE purpose = 'measure' AND volume_as_stated = 1" 3 "counted as stated between hosts"
use_hosts h1
gnnbench run hosts.yaml --set "matrix.scheme=[mg-gcn]" --set "matrix.gpus=[2]" --set seed=5
expect_code 0 "all ranks on one host that is not gnnbench's"
expect_value "SELECT count(*) FROM trials WHERE purpose = 'measure' AND notes LIKE '%transport: shared memory%'" 1 \
    "ranks of another host share its memory"
# Open MPI's daemon leaves a folder for each trial; the next trial removes it.
left="$(on h1 find /dev/shm /tmp -maxdepth 1 -name 'gnnbench-*' | wc -l)"
[[ $left -le 1 ]] || fail "h1 keeps folders of trials that have ended: $(on h1 ls /dev/shm /tmp)"
expect_no_processes 5 "after trials on three hosts"

# What is counted crosses the cable, and takes the time that the cable needs.
begin_anew
use_hosts h0 h1
cat >wide.yaml <<'YAML'
imports: [hosts.yaml]
name: wide
dataset: {generate: dcsbm, vertices: 4000, average_degree: 10, features: 128, classes: 4}
model: {layers: gcn, hidden: [128], activation: relu}
scheme: mg-gcn
gpus: 2
matrix: {}
epochs: 4
YAML
rate=200 # Mbit/s
on h0 tc qdisc add dev net0 root tbf rate ${rate}mbit burst 64kb latency 200ms
sent_before="$(sent_by 0)"
gnnbench run wide.yaml --no-verify
expect_code 0 "a trial over a slow network"
sent=$(($(sent_by 0) - sent_before))
counted="$(ask "SELECT sum(sent_bytes) FROM volumes WHERE rank = 0")"
epoch="$(ask "SELECT sum(sent_bytes) FROM volumes WHERE rank = 0 AND epoch = 2")"
# Beside it: headers, evaluation and set-up (the index, the trial's files), and what Open MPI itself says.
awk -v s="$sent" -v c="$counted" 'BEGIN { exit !(s >= c && s < 1.5 * c + 2e6) }' ||
    fail "h0 sent $sent bytes over its cable where $counted bytes are counted"
awk -v s="$(ask "SELECT min(total_comm_s) FROM epochs WHERE rank = 1 AND warmup = 0")" -v b="$epoch" -v r=$rate \
    'BEGIN { exit !(s > 0.5 * b * 8 / (r * 1e6)) }' ||
    fail "$epoch bytes an epoch cannot cross $rate Mbit/s in the recorded time: $(ask "SELECT min(total_comm_s) FROM epochs WHERE rank = 1")"
on h0 tc qdisc delete dev net0 root

# Each pair of ranks has the way that fits: of four ranks on two hosts, those of one host share its memory under MPI.
sent_before="$(sent_by 0)"
within_before="$(sent_within 0)"
gnnbench run wide.yaml --no-verify --set gpus=4
expect_code 0 "two ranks on each of two hosts"
sent=$(($(sent_by 0) - sent_before))
within=$(($(sent_within 0) - within_before))
counted="$(ask "SELECT sum(sent_bytes) FROM volumes WHERE rank IN (0, 2) AND gpus = 4")"
# Less than half of it was for the other rank on h0.
awk -v s="$sent" -v w="$within" -v c="$counted" 'BEGIN { exit !(s > 0.25 * c && w < 0.05 * c) }' ||
    fail "of $counted bytes of the ranks on h0, $sent went over the cable and $within by TCP within h0"

# A network of long ways: what waits for it is waiting in the records.
if python3 "$here/long_cable.py" --possible; then
    begin_anew
    lengthen 1 15
    gnnbench run hosts.yaml --set "matrix.scheme=[mg-gcn]" --set "matrix.gpus=[2]"
    expect_code 0 "a trial over a long network"
    expect_value "$verified" 2 "over a long network"
    awk -v s="$(ask "SELECT min(wall_s) FROM epochs WHERE warmup = 0")" 'BEGIN { exit !(s > 0.015) }' ||
        fail "an epoch is shorter than the way of a message, 15 ms: $(ask "SELECT min(wall_s) FROM epochs")"
    plug_in 1
else
    echo "not tested: a network of long ways, since /dev/net/tun gives no card"
fi

# Clocks an hour apart.
if command -v faketime >/dev/null; then
    begin_anew
    cat >worker <<WORKER
#!/bin/sh
[ "\$(hostname)" = h1 ] || exec $bin/gnnbench-worker "\$@"
date +%s >$work/clock.h1.real
exec faketime -f +1h sh -c 'date +%s >$work/clock.h1; exec "\$@"' x $bin/gnnbench-worker "\$@"
WORKER
    chmod +x worker
    GNNBENCH_WORKER="$work/worker" gnnbench run hosts.yaml --set "matrix.scheme=[mg-gcn,gossip-gcn]" --set "matrix.gpus=[2]"
    expect_code 0 "clocks an hour apart"
    [[ $(($(cat clock.h1) - $(cat clock.h1.real))) -ge 3590 ]] || fail "faketime did not change the clock of h1"
    expect_value "$ok" 2 "clocks an hour apart"
    expect_value "$verified" 2 "clocks an hour apart"
    expect_value "SELECT count(*) FROM epochs WHERE wall_s < 0 OR wall_s > 600 OR total_comm_s < 0 OR total_comm_s > 600" 0 \
        "no time of an epoch contains the hour"
    expect_value "SELECT count(*) FROM workers WHERE end_s < 0 OR end_s > 600" 0 "no worker's time contains the hour"
    expect_value "SELECT count(*) FROM trial WHERE setup_s < 0 OR setup_s > 600" 0 "nor does set-up"
else
    echo "not tested: clocks an hour apart, since there is no faketime (Debian: faketime)"
fi

# A shared folder whose files h1 sees a second or two late, in another order: a copy that follows.
begin_anew
rm -rf datasets
on h1 bash -ec "mkdir /tmp/seen && cp ssh /tmp/seen && mount --bind /tmp/seen '$work'"
python3 "$here/late_folder.py" "$work" "/proc/${host_pids[1]}/root/tmp/seen" 1 2>late.err &
follower=$!
GNNBENCH_HOST_LIMIT=60 gnnbench run hosts.yaml --set "matrix.scheme=[mg-gcn]" --set "matrix.gpus=[2]"
expect_code 0 "files appear late on a host"
expect_value "$verified" 2 "files appear late on a host"
kill $follower
rm -rf datasets gnnbench.sqlite*
GNNBENCH_HOST_LIMIT=2 gnnbench run hosts.yaml --set "matrix.scheme=[mg-gcn]" --set "matrix.gpus=[2]" --set seed=7 \
    --set dataset.vertices=301 --no-verify
expect_code 1 "a dataset that a host never sees"
expect_reason "*rank 1 on host h1 does not see the dataset*after 2 s*under the same path*" "a dataset that a host never sees"
on h1 umount --lazy "$work"

# What rank 0 writes on another host appears late on gnnbench's: all of it two seconds after the trial's end.
begin_anew
use_hosts h1
cat >worker <<WORKER
#!/bin/sh
journal="\$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["journal"])' "\$1")"
sed 's|"journal": "[^"]*"|"journal": "$work/unseen"|' "\$1" >$work/request.json
: >$work/unseen
$bin/gnnbench-worker $work/request.json || exit
setsid env -i PATH="\$PATH" sh -c "sleep 2; cat $work/unseen >>'\$journal'" >/dev/null 2>&1 </dev/null &
WORKER
chmod +x worker
GNNBENCH_WORKER="$work/worker" gnnbench run hosts.yaml --set "matrix.scheme=[serial]" --set "matrix.gpus=[1]" --no-verify
expect_code 0 "a journal that is seen late"
expect_value "SELECT status || ' ' || measured_epochs FROM trial" "ok 3" "a journal that is seen late"

# Ranks of one host that may not see each other: containers with processes and a /tmp of their own.
rm -rf datasets gnnbench.sqlite*
use_hosts h0
cat >worker <<WORKER
#!/bin/sh
[ "\${OMPI_COMM_WORLD_RANK:-\$PMI_RANK}" -ge 1 ] || exec $bin/gnnbench-worker "\$@"
exec unshare --pid --fork --kill-child --mount --mount-proc sh -ec '
    exec 9<$work
    mount -t tmpfs tmpfs /tmp
    mkdir -p $work
    mount --no-canonicalize --bind /proc/self/fd/9 $work
    exec $bin/gnnbench-worker "\$@"' x "\$@"
WORKER
chmod +x worker
OMPI_MCA_btl=tcp,self UCX_TLS=tcp,self GNNBENCH_WORKER="$work/worker" \
    gnnbench run hosts.yaml --set "matrix.scheme=[mg-gcn]" --set "matrix.gpus=[4]"
expect_code 0 "ranks in containers of one host"
expect_value "$verified" 2 "ranks in containers of one host"
expect_value "SELECT count(*) FROM trials WHERE purpose = 'measure' AND notes LIKE '%transport: mpi (ranks may not map%'" 1 \
    "ranks that cannot share memory do not"
echo "ok: trials over several hosts"
