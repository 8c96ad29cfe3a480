#!/usr/bin/env bash
# Hosts and networks that fail under trials (several_hosts.sh makes them): every trial ends in bounded time, its reason names
# the host and what to do, and what was measured before is kept.
# shellcheck source=tests/endtoend/several_hosts.sh
source "$(dirname "$0")/several_hosts.sh"
# shellcheck source=tests/endtoend/lib.sh
source "$here/lib.sh"
start_hosts 2
[[ "$mpi" == "Open MPI" ]] || skip "what fails between hosts is described as Open MPI 4 does it"
use_hosts h0 h1
export OMPI_MCA_oob_tcp_keepalive_time=2 OMPI_MCA_oob_tcp_keepalive_intvl=1 OMPI_MCA_oob_tcp_keepalive_probes=2
tiny_experiment tiny.yaml
cat >two.yaml <<'YAML'
imports: [tiny.yaml]
name: two
scheme: mg-gcn
gpus: 2
matrix: {}
trials: 1
YAML
long_experiment long.yaml

# start_long: a trial that trains on and on; its process is $running, and epochs of it have been recorded.
start_long() {
    local before
    before="$(ask "SELECT count(*) FROM epoch")"
    on h0 "$bin/gnnbench" run long.yaml --no-verify --rerun >out 2>err &
    running=$!
    until_value "SELECT count(*) > $before + 20 FROM epoch" 1 30 "$1: epochs are recorded"
}
# end_long SECONDS CODE WHAT: it ends by itself.
end_long() {
    local i
    for ((i = 0; i < $1 * 5; i++)); do
        kill -0 "$running" 2>/dev/null || break
        sleep 0.2
    done
    kill -0 "$running" 2>/dev/null && fail "$3: no end within $1 s"
    code=0
    wait "$running" || code=$?
    expect_code "$2" "$3"
}

# Networks of one address on every host, as those of containers are: Open MPI tries to reach the other host in them.
for host in h0 h1; do
    # shellcheck disable=SC2016 # the host's shell expands it
    on "$host" bash -ec 'ip link add docker0 type bridge; ip link add cable0 type veth peer name cable1
        for card in docker0 cable0 cable1; do ip link set "$card" up; done
        ip link set cable0 master docker0; ip addr add 172.17.0.1/16 dev docker0'
done
network="$OMPI_MCA_btl_tcp_if_include"
GNNBENCH_HOST_LIMIT=4 OMPI_MCA_btl_tcp_if_include=172.17.0.0/16 gnnbench run two.yaml --no-verify
expect_code 1 "a network that joins no hosts"
expect_reason '*do not reach each other by MPI: nothing came within 4 s; h[01] has *docker0 172.17.0.1*OMPI_MCA_btl_tcp_if_include*' \
    "a network that joins no hosts"
OMPI_MCA_btl_tcp_if_include=nowhere0 gnnbench run two.yaml --no-verify --failed
expect_code 1 "a network that is none"
expect_reason '*rank [01] on host h[01] cannot reach rank [01]: *OMPI_MCA_btl_tcp_if_include*' "a network that is none"
OMPI_MCA_btl_tcp_if_include="$network" gnnbench run two.yaml --no-verify --failed
expect_code 0 "the network that joins the hosts, named"

# Two hosts of one name, which Open MPI would not tell apart.
on h1 hostname h0
gnnbench run two.yaml --no-verify --rerun
expect_code 1 "two hosts of one name"
expect_reason "*ranks 0 and 1 are on different hosts that are both called 'h0'*give each host a name of its own*" "two hosts of one name"
on h1 hostname h1

# A network that is away for a while.
start_long "before an outage"
unplug 1
sleep 1
replug 1
epochs="$(ask "SELECT count(*) FROM epoch")"
until_value "SELECT count(*) > $epochs + 20 FROM epoch" 1 30 "training goes on after an outage of a second"
# One that stays away.
unplug 1
end_long 60 1 "a network that is cut"
expect_reason "*host h1 does not answer any more*network to it did*" "a network that is cut"
expect_value "SELECT count(*) > $epochs FROM epoch" 1 "what was measured before the cut is kept"
expect_no_processes 10 "a network that is cut"
replug 1

# A host that is gone, by its power or by a crash of its processes; that cannot be reached then; and that comes back.
start_long "before a loss of power"
power_off 1
end_long 60 1 "a host without power"
expect_reason "*host h1 does not answer any more*" "a host without power"
gnnbench run two.yaml --no-verify --rerun
expect_code 5 "a host that cannot be reached"
expect_reason "*before any rank began*" "a host that cannot be reached"
expect_text err "connect to host h1 port 22: No route to host" "a host that cannot be reached is named"
start_host 1
gnnbench run two.yaml --no-verify
expect_code 0 "the host is back, and the same command goes on"
expect_value "SELECT status FROM trial ORDER BY id DESC LIMIT 1" ok "the host is back"
start_long "before a crash"
crash 1
end_long 60 1 "a host that crashes"
expect_reason "*host h1 does not answer any more*" "a host that crashes"
expect_no_processes 10 "a host that crashes"
echo "ok: hosts and networks that fail"
