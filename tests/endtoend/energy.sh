#!/usr/bin/env bash
# Energy of trials on a host whose counters a background process advances, as hardware would: 100 W in the package, 900 W in
# its DRAM, and 10 kW in zones that must not be counted with them.
# usage: energy.sh BIN_FOLDER
# shellcheck source=tests/endtoend/lib.sh
source "$(dirname "$0")/lib.sh"

tree="$work/powercap"
package="$tree/intel-rapl:0"
dram="$package/intel-rapl:0:1"
core="$package/intel-rapl:0:0"
psys="$tree/intel-rapl:1"
mkdir -p "$dram" "$core" "$psys"
echo package-0 >"$package/name"
echo dram >"$dram/name"
echo core >"$core/name"
echo psys >"$psys/name"
for zone in "$package" "$dram" "$core" "$psys"; do echo 262143328850 >"$zone/max_energy_range_uj"; done

# count ZONE MICROJOULES: nobody reads half a number.
count() {
    echo "$2" >"$tree/next"
    mv "$tree/next" "$1/energy_uj"
}
# advance: all counters, at their power since the test began. The package's is about to begin again.
begun=${EPOCHREALTIME/[.,]/}
advance() {
    local us=$((${EPOCHREALTIME/[.,]/} - begun))
    count "$package" $(((262143000000 + 100 * us) % 262143328850))
    count "$dram" $(((900 * us) % 262143328850))
    count "$core" $(((10000 * us) % 262143328850))
    count "$psys" $(((10000 * us) % 262143328850))
}
advance
(while sleep 0.003; do advance; done) &
writer=$!
cleanup=(eval "kill $writer 2>/dev/null || true; wait $writer 2>/dev/null || true; rm -rf '$work'")
export GNNBENCH_POWERCAP="$tree"

gnnbench doctor
expect_text out "package-0, dram of package-0" "doctor names the counters"
expect_text out "energy of devices" "doctor speaks of devices"

cat >exp.yaml <<'YAML'
name: energy
dataset: {generate: dcsbm, vertices: 20000, average_degree: 20, features: 64, classes: 8}
model: {layers: gcn, hidden: [64], activation: relu}
matrix:
  gpus: [1, 2]
scheme: mg-gcn
partitioner: random
kernel: cpu
threads_per_rank: 1
epochs: 30
warmup: 2
trials: 1
YAML
gnnbench run exp.yaml --no-verify
expect_code 0 "a run on a host with counters"
# The counters move each few milliseconds, and the machine may be busy, so 1 kW is found about right: far from the package's 100 W
# and from 10 kW.
expect_value "SELECT count(*) FROM latest l JOIN (SELECT trial, sum(slowest_rank_s) AS s FROM epochs WHERE NOT warmup AND rank = 0
    GROUP BY trial) e ON e.trial = l.trial WHERE l.host_energy_reason = '' AND l.host_energy_j / e.s BETWEEN 350 AND 4000" 2 \
    "the power of the measured epochs is the package's and its DRAM's"
expect_value "SELECT count(*) FROM latest WHERE energy_j = host_energy_j AND device_energy_j IS NULL AND device_energy_reason
    LIKE 'no device%'" 2 "ranks on processors have no devices"
expect_value "SELECT count(*) FROM energy WHERE (host_energy_j IS NULL) = (host_energy_reason = '')" 0 \
    "an epoch has energy, or says why not"
# Each epoch that is long enough has its own, and all of them together have what the trial has.
expect_value "SELECT count(*) FROM latest l WHERE (SELECT count(host_energy_j) = 30 AND abs(sum(host_energy_j) - l.host_energy_j) > 1e-6
    FROM energy e WHERE e.trial = l.trial AND NOT e.warmup)" 0 "epochs add up to the trial"
gnnbench results show "$(ask 'SELECT trial FROM latest LIMIT 1')"
expect_text out "host_energy_j" "results show"
gnnbench table energy --json
expect_text out '"energy_j_per_epoch": ' "the table's numbers"
refuse_text out '"energy_j_per_epoch": null' "the table's numbers"
gnnbench report energy --output report.html
expect_code 0 "a report of an experiment with energy"
grep -qE 's \([0-9.]+ J\)' report.html || fail "the report does not show a trial's energy"

mkdir -p experiments/own
cp exp.yaml experiments/own/energy.yaml
cat >experiments/own/table-1.yaml <<'YAML'
title: Energy of an epoch
source: Own, Table 1
experiments: energy
cell: {metric: energy_j_per_epoch, unit: mJ}
row_head: GPUs
rows: {over: gpus, values: [1, 2]}
columns:
  - {name: mg-gcn, where: {scheme: mg-gcn}}
YAML
gnnbench table own/table-1
expect_code 0 "a table of energy"
expect_text out "mJ" "a table of energy"
grep -qE '^2 +[|] +[0-9]' out || fail "the table shows no energy of two ranks: $(cat out)"

# Independent workers overlap: the whole training has a number where nothing of it is warm-up, and an epoch has none.
gnnbench run exp.yaml --no-verify --set name=workers --set 'scheme={name: gossip-gcn, clusters: 4}' --set gpus=2 --set warmup=0
expect_value "SELECT host_energy_j > 0 FROM latest WHERE experiment = 'workers'" 1 "workers without warm-up"
expect_value "SELECT count(host_energy_j) FROM energy WHERE experiment = 'workers'" 0 "their epochs"

# Devices: emulated ones, and a library in NVML's place that counts 300 W of the first and 200 W of the second. Its counters are
# found by the UUIDs that the kernel says; epochs of today's emulation are often too short for them.
if [[ -e "$bin/../emulated/libkernel_cuda.so" && -e "$bin/../lib/libfake_nvml.so" ]]; then
    mkdir nvml
    cp "$bin/../lib/libfake_nvml.so" nvml/libnvidia-ml.so.1
    (while sleep 0.02; do
        us=$((${EPOCHREALTIME/[.,]/} - begun))
        printf 'GPU-00000000-0000-0000-0000-00000000000%d %d\n' 0 $((3 * us / 10)) 1 $((us / 5)) >counts.next
        mv counts.next counts
    done) &
    devices=$!
    cleanup=(eval "kill $writer $devices 2>/dev/null || true; wait $writer $devices 2>/dev/null || true; rm -rf '$work'")
    while [[ ! -e counts ]]; do sleep 0.01; done
    (
        export FAKE_NVML="$work/counts" LD_LIBRARY_PATH="$work/nvml" GNNBENCH_EMULATED_DEVICES=2
        export GNNBENCH_PLUGIN_PATH="$bin/../emulated"
        gnnbench doctor
        grep -qE 'energy of devices +2 of 2 devices' out || fail "doctor reads the devices' counters"
        gnnbench run exp.yaml --no-verify --set name=devices --set kernel=cuda --set gpus=2 --set dataset.vertices=2000 \
            --set epochs=4 --set warmup=0
        expect_code 0 "a run on emulated devices"
    ) || exit 1
    expect_value "SELECT l.device_energy_reason LIKE 'too short%4 windows%' OR l.device_energy_j / e.s BETWEEN 350 AND 1500
        FROM latest l JOIN (SELECT trial, sum(slowest_rank_s) AS s FROM epochs WHERE rank = 0 GROUP BY trial) e
        ON e.trial = l.trial WHERE experiment = 'devices'" 1 "the devices' counters are read"
fi

# Why there may be none.
reason() { expect_value "SELECT host_energy_reason LIKE '$2' AND host_energy_j IS NULL FROM latest WHERE experiment = '$1'" 1 "$3"; }
short=(--no-verify --set gpus=1 --set epochs=2 --set warmup=0)
gnnbench run exp.yaml "${short[@]}" --set name=together --jobs 2
reason together 'other trials ran%' "trials at the same time"
gnnbench run exp.yaml "${short[@]}" --set name=far --set 'kernel={name: simulated, machine: perlmutter}'
reason far 'simulated%' "simulated ranks"
kill "$writer"
wait "$writer" 2>/dev/null || true
gnnbench run exp.yaml "${short[@]}" --set name=still --set seed=2
reason still 'the counters stood still%' "counters that do not count"
rm "$dram/energy_uj"
gnnbench run exp.yaml "${short[@]}" --set name=broken --set seed=3
reason broken 'cannot read%energy_uj%' "a counter that is not there"
GNNBENCH_POWERCAP="$work/nowhere" gnnbench run exp.yaml "${short[@]}" --set name=none --set seed=4
expect_value "SELECT host_energy_reason LIKE 'no powercap tree%' OR host_energy_reason LIKE 'virtual machine%' FROM latest
    WHERE experiment = 'none'" 1 "a host without counters"
gnnbench results show "$(ask "SELECT trial FROM latest WHERE experiment = 'none'")"
expect_text out "host_energy_reason" "results show why there is none"
echo ok
