#!/usr/bin/env bash
# `gnnbench verify` on the emulated device, with streams that get somewhere by chance: of what the contract of strategies does not
# run there (batches, gossip, old rows, several labels, attention, eight ranks), or of every scheme in every_scheme.yaml.
# usage: verified.sh BIN_FOLDER [few|every [PLUGIN_FOLDER [PRELOADED_LIBRARY]]]
# shellcheck source=tests/endtoend/lib.sh
tests="$(cd -- "$(dirname -- "$0")" && pwd)" which="${2:-few}" plugins="${3:-}" preloaded="${4:-}"
source "$tests/../endtoend/lib.sh"
export GNNBENCH_PLUGIN_PATH="${plugins:-$bin/../emulated}" GNNBENCH_EMULATED_DEVICES=8 GNNBENCH_EMULATED_SEED=7

# verified CELLS EXPERIMENT …: so many are verified, and no other ends.
verified() {
    LD_PRELOAD="$preloaded" gnnbench verify "${@:2}"
    expect_code 0 "verify on the emulated device"
    refuse_text out 'FAILED|crashed|CUDA device' "the table"
    expect_value "SELECT count(*) FROM trial WHERE purpose = 'verify' AND status <> 'ok'" 0 "verifications that did not end"
    [[ $1 -eq 0 ]] || expect_value "SELECT count(*) FROM trial WHERE purpose = 'verify'" "$1" "verifications"
}

if [[ $which == every ]]; then
    verified 0 "$tests/every_scheme.yaml"
    "$bin/gnnbench" plugin list | awk '$1 == "strategy" { print $2 }' >schemes
    [[ $(wc -l <schemes) -gt 10 ]] || fail "these are not all schemes: $(tr '\n' ' ' <schemes)"
    while read -r scheme; do
        # By name, or by name with parameters in parentheses.
        [[ "$(ask "SELECT count(*) > 0 FROM verifications WHERE scheme || '(' LIKE '$scheme(%'")" == 1 ]] ||
            fail "every_scheme.yaml verifies nothing of $scheme"
    done <schemes
    ask "SELECT count(*) || ' verifications of ' || count(DISTINCT scheme) || ' schemes with parameters' FROM verifications"
    exit 0
fi

cat >few.yaml <<'YAML'
name: few
dataset: {generate: dcsbm, vertices: 120, average_degree: 6, features: 6, classes: 3}
model: {layers: gcn, hidden: [5], activation: relu}
matrix:
  scheme: [gossip-gcn, minibatch-p2p, pipegcn, sancus, cagnet-3d]
  gpus: [3, 8]
  exclude:
    - where: "(scheme = 'cagnet-3d') = (gpus = 3)"
partitioner: random
kernel: {name: cuda, transport: nccl}
threads_per_rank: 1
epochs: 2
warmup: 0
trials: 1
YAML
verified 5 few.yaml
expect_text out "cagnet-3d" "the table"
refuse_text out 'skipped' "the table"
echo ok
