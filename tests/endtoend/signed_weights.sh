#!/usr/bin/env bash
# Weights that add up to less than 0 have no normalisation: each such cell is skipped with a reason, and none is ok.
# shellcheck source=tests/endtoend/lib.sh
source "$(dirname "$0")/lib.sh"
cat >signed.mtx <<'GRAPH'
%%MatrixMarket matrix coordinate real symmetric
6 6 7
2 1 -5
3 1 1
3 2 1
4 3 2
5 4 1
6 5 1
6 4 0.5
GRAPH
# With the self-loop row 0 adds up to -5 + 1 + 1.
cat >signed.yaml <<'SPEC'
name: signed
dataset: {path: signed.mtx, features: 4, classes: 2}
model: {hidden: [4], activation: relu}
matrix:
  model.layers: [gcn, sage, gin]
  scheme: [serial, mg-gcn, sa-1d]
  gpus: [1, 2]
partitioner: random
kernel: cpu
threads_per_rank: 1
epochs: 3
warmup: 1
trials: 1
limits: {trial_timeout: 60, verify_timeout: 60}
SPEC
gnnbench run signed.yaml
latest="FROM latest WHERE purpose = 'measure'"
[[ "$(ask "SELECT count(*) $latest")" -gt 6 ]] || fail "signed weights: expected cells of three kinds of layers"
expect_value "SELECT count(*) $latest AND status NOT IN ('ok', 'skipped')" 0 "signed weights: neither run nor refused"
expect_value "SELECT count(*) $latest AND status = 'ok' AND final_loss IS NULL" 0 "an ok cell without a loss"
for refused in symmetric:-3 mean:-4; do # of gcn and of sage, on every scheme that runs at all
    expect_value "SELECT count(*) $latest AND status = 'skipped' AND reason LIKE '%normalisation: ${refused%:*}%weights in row 0%${refused#*:}%'" \
        5 "refused by the normalisation, the row and its sum"
done
expect_value "SELECT count(*) > 0 $latest AND status = 'ok'" 1 "gin takes signed weights"

# Without a normalisation they are weights like others.
sed -e '/model.layers/d' -e 's/^name: signed/name: unnormalised/' -e 's/hidden: \[4\]/hidden: [4], normalisation: none/' \
    signed.yaml >none.yaml
gnnbench run none.yaml
expect_code 0 "normalisation: none"
unnormalised="$(ask "SELECT count(*) $latest AND experiment = 'unnormalised' AND status = 'ok'")"
[[ "$unnormalised" -eq 5 ]] || fail "normalisation: none: $unnormalised of 5 cells ran"
