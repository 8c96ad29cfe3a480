#!/usr/bin/env bash
# Eight hosts at once on one database, and hosts that are killed at random moments: nothing recorded is lost, no trial
# runs twice, the database stays whole.   usage: kills.sh BIN_FOLDER [KILLS] [KILLS_OF_REAL_WORKERS]
# shellcheck source=tests/endtoend/lib.sh
source "$(dirname "$0")/lib.sh"
kills="${2:-200}" real_kills="${3:-10}"

# A launcher that starts nothing but the worker, so that a trial takes milliseconds.
cat >"$work/mpiexec" <<'SH'
#!/bin/sh
[ "$1" = --version ] && echo "mpiexec (stand-in) 1.0" && exit 0
shift 2
exec "$@"
SH
chmod +x "$work/mpiexec"
export GNNBENCH_MPIEXEC="$work/mpiexec" GNNBENCH_WORKER="$bin/standin_worker" GNNBENCH_LEDGER="$work/ledger"

cat >many.yaml <<'YAML'
name: many
dataset: {generate: dcsbm, vertices: 300, average_degree: 8, features: 8, classes: 4}
scheme: mg-gcn
gpus: 1
threads_per_rank: 1
epochs: 6
warmup: 1
trials: 4
matrix: {seed: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]}
YAML

# whole DATABASE WHAT: everything in the ledger is in it, once, and it is sound.
whole() {
    expect_value "PRAGMA integrity_check" ok "$1: the file"
    expect_value "SELECT count(*) FROM pragma_foreign_key_check" 0 "$1: its references"
    "$bin/gnnbench" query --csv "SELECT t.uuid || ' ' || e.epoch FROM epoch e JOIN trial t ON t.id = e.trial_id" |
        sed 1d | sort >"$work/kept"
    sed -n 's/^epoch //p' "$GNNBENCH_LEDGER" | sort >"$work/noted"
    local lost
    lost="$(comm -13 "$work/kept" "$work/noted" | wc -l)"
    [[ "$lost" -eq 0 ]] || fail "$1: $lost of $(wc -l <"$work/noted") epochs that were recorded are lost"
    expect_value "SELECT count(*) FROM (SELECT 1 FROM trial WHERE status = 'ok' GROUP BY cell_id, number HAVING count(*) > 1)" 0 \
        "$1: trials that ran twice"
    # Hidden: an empty journal whose host was killed before it had a name; removed once it is an hour old.
    [[ -z "$(ls gnnbench.sqlite.journals 2>/dev/null)" ]] ||
        fail "$1: left beside the database: $(ls gnnbench.sqlite.journals)"
}

# Eight at once.
hosts=()
for i in 1 2 3 4 5 6 7 8; do
    "$bin/gnnbench" run many.yaml --no-verify >"$work/out.$i" 2>"$work/err.$i" &
    hosts+=($!)
done
for i in "${!hosts[@]}"; do
    code=0
    wait "${hosts[$i]}" || code=$?
    [[ $code -eq 0 ]] || { cat "$work/err.$((i + 1))"; fail "host $((i + 1)) of eight ended with $code"; }
done
expect_value "SELECT count(*) FROM trial WHERE purpose = 'measure'" 40 "eight hosts at once"
expect_value "SELECT count(*) FROM trial WHERE status = 'ok' AND measured_epochs = 6" 40 "eight hosts at once"
[[ "$(grep -c '^begin' "$GNNBENCH_LEDGER")" -eq 40 ]] || fail "eight hosts at once began $(grep -c '^begin' "$GNNBENCH_LEDGER") trials, not 40"
whole "eight hosts at once"
echo "eight hosts at once: 40 trials, each once"

# Two hosts work; every moment one of them is killed and another takes its place.
sed -i 's/^trials: 4/trials: 2000/' many.yaml
a=0 b=0
host() { exec "$bin/gnnbench" run many.yaml --no-verify >/dev/null 2>>"$work/err"; }
host & a=$!
host & b=$!
disown -a
for ((k = 0; k < kills; k++)); do
    sleep "0.$(printf '%03d' $((RANDOM % 400)))"
    if ((RANDOM % 2)); then
        kill -9 "$a" 2>/dev/null || fail "kill $k: a host had ended by itself: $(tail -n 3 "$work/err")"
        host & a=$!
    else
        kill -9 "$b" 2>/dev/null || fail "kill $k: a host had ended by itself: $(tail -n 3 "$work/err")"
        host & b=$!
    fi
    disown -a
done
kill -9 "$a" "$b" 2>/dev/null || true
expect_no_processes 10 "killed hosts"
gnnbench run many.yaml --no-verify --set trials=1
expect_code 0 "the run after the last kill"
whole "after $kills kills"
echo "$kills kills: $(wc -l <"$work/noted") epochs recorded, none lost; $(ask "SELECT count(*) FROM trial WHERE status = 'interrupted'") trials interrupted"

# The same with real workers: what whole lines their journals hold when they are dead must come out in the database.
unset GNNBENCH_MPIEXEC GNNBENCH_WORKER GNNBENCH_LEDGER
rm -rf gnnbench.sqlite*
long_experiment long.yaml
for ((k = 0; k < real_kills; k++)); do
    "$bin/gnnbench" run long.yaml --no-verify >/dev/null 2>>"$work/err" &
    host=$!
    disown
    until_value "SELECT count(*) > 0 FROM epoch e JOIN trial t ON t.id = e.trial_id WHERE t.status = 'running'" 1 60 \
        "real workers, kill $k: epochs are recorded"
    sleep "0.$(printf '%03d' $((RANDOM % 400)))"
    kill -9 "$host" 2>/dev/null || fail "real workers, kill $k: the host had ended by itself: $(tail -n 3 "$work/err")"
    expect_no_processes 20 "real workers, kill $k"
    recorded=0
    for journal in gnnbench.sqlite.journals/*.jsonl; do
        [[ -e "$journal" ]] || continue
        recorded=$((recorded + $(grep -c '"type":"epoch".*}$' "$journal" || true)))
        trial="$(grep -o -m 1 '"trial":"[0-9a-f-]*"' "$journal" | cut -d'"' -f4)"
    done
    [[ $recorded -gt 0 ]] || fail "real workers, kill $k: no journal has an epoch"
    gnnbench plan long.yaml
    gnnbench results list # brings nothing in: only a run replays
    gnnbench run long.yaml --no-verify --set limits.trial_timeout=0.5 --set seed=$((k + 1))
    expect_value "PRAGMA integrity_check" ok "real workers, kill $k"
    expect_value "SELECT count(*) FROM epoch e JOIN trial t ON t.id = e.trial_id WHERE t.uuid = '$trial'" \
        "$recorded" "real workers, kill $k: recorded epochs"
done
echo "$real_kills kills with real workers: none lost"
