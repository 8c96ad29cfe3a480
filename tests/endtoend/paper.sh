#!/usr/bin/env bash
# A paper of one's own: what `init --paper` writes is an experiment, a table and a figure that work as they are, and the
# paper's numbers stand beside ours once they are in published.csv.
root="$(cd "$(dirname "$0")/../.." && pwd)"
source "$root/tests/endtoend/lib.sh"

gnnbench init --paper my-paper
expect_code 0 "init --paper"
expect_text err "wrote experiments/my-paper: an experiment, a table, a figure" "init --paper"
! grep -rq '%paper%\|%folder%' experiments/my-paper || fail "a mark is left in what init --paper wrote"
gnnbench init --paper my-paper
expect_code 2 "a folder that is there"
expect_text err "'experiments/my-paper' is there and not empty" "a folder that is there"
gnnbench init --paper "My paper"
expect_code 2 "a name with a blank"
expect_text err "small letters, digits and hyphens are allowed" "a name with a blank"

gnnbench validate experiments/my-paper
expect_code 0 "validate the folder"
gnnbench run experiments/my-paper
expect_code 0 "run the folder"
expect_value "SELECT count(DISTINCT cell) FROM trials WHERE status = 'ok' AND purpose = 'measure'" 3 "serial once, mg-gcn twice"
gnnbench table my-paper/table-1
expect_code 0 "the table by its name"
expect_text out "speed-up" "the table"
! grep -q 'cells match this place' out || fail "a place of the table is of several cells: $(cat out)"

echo 'table-1,2,mg-gcn,12.5,ms,p. 6,12.5,' >>experiments/my-paper/published.csv
gnnbench table my-paper/table-1
expect_text out "12.5" "the paper's number"
expect_text out "ours is not the paper's setting" "the paper's number beside a scaled graph"
echo 'table-1,3,mg-gcn,1,ms,p. 6,1,' >>experiments/my-paper/published.csv
gnnbench validate experiments/my-paper
expect_code 2 "a published number of no place"
expect_text err "has no such row" "a published number of no place"
sed -i '$d' experiments/my-paper/published.csv

gnnbench claims my-paper
expect_code 0 "the claims"
expect_text out "UNDECIDED  my-paper/faster-than-serial" "a claim on the paper's setting"
expect_text out "measured in another setting than the paper's" "a claim on the paper's setting"
expect_text out "missing: hardware counters of the paper's device" "a claim that is not judged"
sed -i 's/    factor: 1.8/    at_least: 1e-9\n    settings: scaled/' experiments/my-paper/claims.yaml
gnnbench claims my-paper
expect_text out "times of different numbers of ranks on one machine's cores" "a speed-up over ranks that share cores"
sed -i 's/row: 2, column: speed-up/row: 1, column: mg-gcn/' experiments/my-paper/claims.yaml
gnnbench claims my-paper --json
expect_text out '"verdict": "REPRODUCED"' "a bound that holds"
expect_text out 'run experiments/my-paper/scaling.yaml' "the command behind a verdict"
gnnbench claims my-paper --undecided
! grep -q 'faster-than-serial' out || fail "a decided claim is among the undecided: $(cat out)"
gnnbench claims
expect_text out "my-paper" "the counts of every paper"
sed -i 's/column: mg-gcn/column: mggcn/' experiments/my-paper/claims.yaml
gnnbench validate experiments/my-paper
expect_code 2 "a claim about a column that is not there"
expect_text err "table-1 has no column 'mggcn'" "a claim about a column that is not there"
gnnbench run experiments/my-paper/claims.yaml
expect_code 2 "claims that are run"
expect_text err "is a list of a paper's claims" "claims that are run"
sed -i 's/column: mggcn/column: mg-gcn/' experiments/my-paper/claims.yaml

gnnbench --database none.sqlite table my-paper/table-1
expect_text out "to measure it: gnnbench run experiments/my-paper/scaling.yaml" "a table without a trial"
gnnbench --database none.sqlite claims my-paper
expect_text err "none.sqlite has no trial of these papers' experiments" "claims without a trial"
gnnbench claims their-paper
expect_code 2 "claims of a paper that is not there"
expect_text err "my-paper" "claims of a paper that is not there"

gnnbench plan experiments/my-paper --profile paper
expect_code 2 "the paper's size without its graph"
expect_text err "reddit" "the paper's size without its graph"
gnnbench report experiments/my-paper --output page.html
expect_code 0 "a report of the folder"
if command -v gnuplot >/dev/null; then
    gnnbench figure my-paper/figure-1 --output figure.svg
    expect_code 0 "the figure"
fi
# Numbers that a claim compares are of one profile, though another one has one of them.
cat >experiments/my-paper/losses.yaml <<'YAML'
title: Loss after training
source: my-paper, Table 2
experiments: my-paper-scaling
cell: {metric: final_loss}
where: {dataset: [reddit, reddit-small]}
rows: [{name: loss}]
columns: [{name: serial, where: {scheme: serial}}, {name: two, where: {scheme: mg-gcn, gpus: 2}}]
YAML
cat >>experiments/my-paper/claims.yaml <<'YAML'
  - id: same-loss
    at: section 3
    says: Two devices end with the loss of one.
    numbers:
      one: {table: losses, row: loss, column: serial}
      two: {table: losses, row: loss, column: two}
    value: two / one
    is: 1
    settings: scaled
YAML
gnnbench dataset generate dcsbm --name reddit --set vertices=300 --set average_degree=8 --set features=64 --set classes=2
gnnbench run experiments/my-paper/scaling.yaml --profile paper --set kernel=cpu --set epochs=5 --set warmup=1 --where "scheme = 'serial'"
expect_code 0 "a part of the paper's profile"
gnnbench claims my-paper
expect_text out "REPRODUCED  my-paper/same-loss" "a claim on numbers of two profiles"
