#!/usr/bin/env bash
# Comparing what was measured at different times, and by turns: two builds, two settings.
# shellcheck source=tests/endtoend/lib.sh
source "$(dirname "$0")/lib.sh"
tiny_experiment tiny.yaml
serial="scheme = 'serial'"

# --- one after the other: numbers, no verdict, and the command that measures by turns ---------------------------------
gnnbench run tiny.yaml --tag before --set trials=6 --set train.lr=0.1 --where "$serial"
gnnbench run tiny.yaml --tag after --set trials=6 --set train.lr=0.2 --set epochs=200 --where "$serial" --no-verify
expect_code 0 "the second side"
gnnbench compare before after --where "$serial"
expect_code 0 "sides measured at different times"
expect_text out "UNCLEAR, measured at different times" "sides measured at different times"
refuse_text out "FASTER|SLOWER|SAME" "sides measured at different times"
expect_text out "This measures both by turns:" "sides measured at different times"
expect_text out "gnnbench compare before after --interleave tiny.yaml --set trials=6 --set-a train.lr=0.1" \
    "the command that measures by turns"
expect_text out "--set-b train.lr=0.2 --set-b epochs=200 --where \"$serial\" --trials 10" "the command that measures by turns"
gnnbench compare before after --json
expect_text out '"pairs": 0' "sides measured at different times, as JSON"
expect_text err "--interleave tiny.yaml" "beside JSON the command is on stderr"
gnnbench gate before after
expect_code 4 "a gate of sides measured at different times"
expect_text err "1 measured at different times" "a gate of sides measured at different times"

# --- by turns -------------------------------------------------------------------------------------------------------
gnnbench compare before after --interleave tiny.yaml --set-b epochs=4 --where "$serial" --trials 6 --no-verify \
    --build-b "$bin/.."
expect_code 0 "sides measured by turns"
refuse_text out "measured at different times" "sides measured by turns"
expect_value "SELECT count(*) FROM tags WHERE tag = 'before'" 12 "the old trials and the new"
expect_value "WITH newest AS (SELECT g.name, row_number() OVER (ORDER BY t.id DESC) AS place FROM tag g JOIN trial t ON
              t.id = g.trial_id)
              SELECT count(*) FROM newest a JOIN newest b ON b.place = a.place + 1
              WHERE a.place % 2 = 1 AND a.place < 12 AND a.name <> b.name" 6 "trials alternate"
gnnbench compare before after --json
expect_text out '"pairs": 6' "pairs measured by turns"

# --- cells of one experiment ----------------------------------------------------------------------------------------
gnnbench run tiny.yaml --no-verify --set trials=6 --set name=blocks --set seed=5 --where "gpus = 1"
gnnbench compare "experiment:blocks,where:scheme = 'serial'" "experiment:blocks,where:scheme = 'mg-gcn'" --json
expect_text out '"pairs": 6' "cells of one experiment take turns"
gnnbench run tiny.yaml --no-verify --rerun --set trials=6 --set name=blocks --set seed=5 --where "gpus = 1 AND $serial"
gnnbench compare "experiment:blocks,where:scheme = 'serial'" "experiment:blocks,where:scheme = 'mg-gcn'"
expect_text out "gnnbench run tiny.yaml --set trials=6 --set name=blocks --set seed=5 --rerun --set trials=10" \
    "one experiment measures its cells by turns"

# --- what cannot be measured ----------------------------------------------------------------------------------------
gnnbench compare before before --interleave tiny.yaml
expect_code 2 "one tag for both sides"
gnnbench compare before after --interleave tiny.yaml --build-a "$work"
expect_code 2 "a folder without a build"
expect_text err "a folder with bin/gnnbench" "a folder without a build"
gnnbench compare before after --build-a "$bin"
expect_code 2 "a build without --interleave"
gnnbench compare before after --interleave none.yaml
expect_code 2 "an experiment that is not there"

# --- verdicts are checked by real trials: one of each setting, where the command's own 140 take minutes. Without
# GNNBENCH_TEST_WHOLE it is interrupted once it has begun the second, and prints the first -----------------------------
if [[ -n "${GNNBENCH_TEST_WHOLE:-}" ]]; then
    gnnbench selftest verdicts --equal 0 --slowed 4 --trials 6 --json
    [[ $code -eq 0 || $code -eq 1 ]] || fail "selftest verdicts: exit code $code"
    faster="$(python3 -c 'import json; print(sum(row["FASTER"] for row in json.load(open("out")) if row["slowdown"] > 1))')"
    [[ "$faster" -eq 0 ]] || fail "selftest verdicts: $faster comparisons call a slowed side FASTER"
    compared=4
else
    mkdir scratch
    TMPDIR="$work/scratch" "$bin/gnnbench" selftest verdicts --equal 0 --slowed 4 --trials 6 --json >out 2>err &
    host=$!
    for ((i = 0; i < 3000; i++)); do
        ! compgen -G 'scratch/*/2.sqlite' >/dev/null || break
        kill -0 "$host" 2>/dev/null || break
        sleep 0.1
    done
    compgen -G 'scratch/*/2.sqlite' >/dev/null || fail "selftest verdicts began no second comparison in 300 s"
    kill -INT "$host" || fail "selftest verdicts ended before its second comparison"
    code=0
    wait "$host" || code=$?
    expect_code 130 "selftest verdicts, interrupted"
    compared=1
fi
expect_text out '"measured": "one after the other"' "selftest verdicts"
python3 -c 'import json; print(sum(row["comparisons"] for row in json.load(open("out"))))' >compared
[[ "$(cat compared)" -eq $compared ]] || fail "selftest verdicts: expected $compared comparisons, found $(cat compared)"
echo ok
