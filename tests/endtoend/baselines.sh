#!/usr/bin/env bash
# Other frameworks train Cora to our losses. Skipped (77) without any of them (experiments/baselines/setup.sh) or Cora's files.
# shellcheck source=tests/endtoend/lib.sh
source "$(dirname "$0")/lib.sh"
experiments="$(dirname "$(readlink -f "$0")")/../../experiments/baselines"
export GNNBENCH_SHARED_DATA="${GNNBENCH_SHARED_DATA:-$experiments/../../../shared/data}"
[[ -d "$GNNBENCH_SHARED_DATA/planetoid-cora" ]] || { echo "skipped: no planetoid-cora in GNNBENCH_SHARED_DATA"; exit 77; }

# One epoch of each tells what is there, before anything is trained and verified for nothing.
gnnbench --database probe.sqlite run "$experiments/cora.yaml" --where "layers = 'gcn' AND scheme <> 'serial'" --no-verify \
    --set epochs=1
expect_code 0 "which frameworks there are"
there="$("$bin/gnnbench" --database probe.sqlite query --csv "SELECT count(*) FROM trial WHERE status <> 'skipped'" | sed -n 2p)"
[[ $there =~ ^[0-9]+$ ]] || fail "the query gave no count: \"$there\""
if [[ $there -eq 0 ]]; then
    grep -F 'skipped' "$work/err" || true
    echo "skipped: none of the frameworks is installed (experiments/baselines/setup.sh)"
    exit 77
fi

gnnbench run "$experiments/cora.yaml" --where "layers = 'gcn'"
expect_code 0 "GCN on Cora in all frameworks"
gnnbench run "$experiments/cora.yaml" --no-verify # to save time: GraphSAGE's losses are compared below
expect_code 0 "GraphSAGE on Cora in all frameworks"
gnnbench run "$experiments/attention-cora.yaml" --no-verify
expect_code 0 "GAT on Cora in all frameworks"
expect_value "SELECT count(*) FROM epoch" "$(ask "SELECT 100 * count(*) FROM trial WHERE status = 'ok' AND purpose = 'measure'")" "epochs of each"
there=0
# One framework's trial of one kind of layers; counts those that ran.
compare() {
    local layers="$1" name="$2" measured of apart
    measured="FROM trial t JOIN cell c ON c.id = t.cell_id
        WHERE json_extract(identity, '$.model.layers') = '$layers' AND purpose = 'measure'"
    of="$measured AND scheme = '$name' ORDER BY t.id DESC LIMIT 1"
    if [[ "$(ask "SELECT t.status $of")" == skipped ]]; then
        echo "skipped $name: $(ask "SELECT t.reason $of")"
        return
    fi
    there=$((there + 1))
    if [[ $layers == gcn ]]; then
        expect_value "SELECT status FROM verifications WHERE scheme = '$name'" verified "$name"
    fi
    apart="$(ask "SELECT max(abs(theirs.loss - ours.loss)) FROM epoch theirs JOIN epoch ours USING (epoch)
        WHERE theirs.trial_id = (SELECT t.id $of) AND ours.trial_id = (SELECT t.id $measured AND scheme = 'serial')")"
    echo "$name, $layers: losses of 100 epochs at most $apart apart"
    awk -v apart="$apart" 'BEGIN { exit !(apart <= 1e-4) }' || fail "$name, $layers: losses are $apart apart; 1e-4 is allowed"
}

for layers in gcn sage; do
    for name in torch.sparse pyg dgl; do compare "$layers" "$name"; done
done
for layers in gat gatv2; do
    for name in pyg dgl; do compare "$layers" "$name"; done
done
[[ $there -gt 0 ]] || exit 77
echo ok
