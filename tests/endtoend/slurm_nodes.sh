#!/usr/bin/env bash
# Trials across two nodes of a Slurm cluster, by srun and by sbatch. Both nodes are daemons on this host, so what is tested is the
# request for nodes, the ranks' places and their messages between nodes, not a network.
here="$(cd -- "$(dirname "$0")" && pwd)"
# shellcheck source=tests/endtoend/lib.sh
source "$here/lib.sh"
# shellcheck source=tests/endtoend/slurm_cluster.sh
source "$here/slurm_cluster.sh"
start_cluster 2 2
# Nodes of one host would use the same files of Open MPI's shared memory, so all messages go through sockets.
export OMPI_MCA_mpi_yield_when_idle=1 GNNBENCH_YIELD=sleep OMPI_MCA_btl=tcp,self
tiny_experiment tiny.yaml
cat >two.yaml <<'YAML'
imports: [tiny.yaml]
name: two
matrix: {gpus: [2, 4]}
scheme: mg-gcn
launcher: {name: srun, nodes: 2}
YAML
ok="SELECT count(*) FROM trial WHERE purpose = 'measure' AND status = 'ok'"

gnnbench doctor --launcher srun
expect_text out "Slurm loopback/main: nodes of 2 cores" "doctor asks Slurm"
for launcher in srun sbatch; do
    # Open MPI 4.1's sockets now and then crash in MPI_Init (mca_btl_tcp calls a null function), where nodes share busy cores.
    for attempt in 1 2 3; do
        rm -rf gnnbench.sqlite*
        gnnbench run two.yaml --set "launcher.name=$launcher"
        grep -q SIGSEGV err || break
        echo "attempt $attempt by $launcher: $(grep -m 1 SIGSEGV err)"
    done
    expect_code 0 "a sweep on two nodes by $launcher"
    expect_value "$ok" 4 "a sweep on two nodes by $launcher"
    expect_value "SELECT count(*) FROM verifications WHERE status = 'verified'" 4 "a sweep on two nodes by $launcher is verified, before and late"
    expect_empty_queue 20 "a sweep on two nodes by $launcher"
done
[[ "$(squeue -h -t all -o %D | grep -cx 2)" -ge 4 ]] || fail "jobs of two nodes: $(squeue -t all -o '%i %D %N')"
expect_no_processes 5 "at the end"
echo "ok: sweeps on two nodes through srun and sbatch"
