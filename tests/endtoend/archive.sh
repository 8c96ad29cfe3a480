#!/usr/bin/env bash
# An archive of an experiment is replayed elsewhere, which says what differs.
here="$(cd -- "$(dirname "$0")" && pwd)"
# shellcheck source=tests/endtoend/lib.sh
source "$here/lib.sh"
tiny_experiment tiny.yaml
sed -i '/^  gpus:/d' tiny.yaml
echo 'scaling: {strong: [1, 2]}' >>tiny.yaml
sed 's/name: tiny/name: other/; s/^scaling:.*/gpus: 1/' tiny.yaml >other.yaml

gnnbench export tiny.yaml --archive a.archive
expect_code 2 "an archive of nothing"
expect_text err "there is no database" "an archive of nothing"
gnnbench run other.yaml --set seed=7 --no-verify
expect_code 0 "another experiment"
gnnbench export tiny.yaml --archive a.archive
expect_code 2 "an archive of what was not measured"
expect_text err "no trial of this experiment that is ok" "an archive of what was not measured"
[[ ! -e a.archive && ! -e a.archive.part ]] || fail "an archive that could not be written is there"
gnnbench run tiny.yaml --set trials=1 --set seed=3
expect_code 0 "the experiment"
gnnbench export tiny.yaml --set trials=1 --set seed=3 --archive a.archive
expect_code 0 "an archive"
expect_text err "3 of 4 cells measured" "an archive"
gnnbench export tiny.yaml --set trials=1 --set seed=3 --archive a.archive
expect_code 2 "an archive that is there already"
expect_text err "is already there" "an archive that is there already"

# It is a results database of that experiment alone.
[[ "$("$bin/gnnbench" query --csv --database a.archive "SELECT group_concat(DISTINCT experiment) FROM trials" | tail -n 1)" == tiny ]] ||
    fail "the archive has trials of other experiments"
gnnbench table tiny --database a.archive
expect_code 0 "the table of an archive"

# Elsewhere: neither the experiment's file nor its data are there.
mkdir elsewhere
mv a.archive elsewhere/
rm -rf datasets tiny.yaml
cd elsewhere
export GNNBENCH_TEST="$work"
gnnbench replay a.archive --trials 1
expect_code 0 "a replay"
expect_text out "data, bytes and losses agree" "a replay"
expect_text out "mg-gcn" "a replay lists cells"
[[ "$("$bin/gnnbench" query --csv --database a-replayed.sqlite "SELECT scaling FROM experiment" | tail -n 1)" == strong ]] ||
    fail "a replay has lost the experiment's scaling"
[[ -e a-replayed.sqlite ]] || fail "a replay's results are not in a-replayed.sqlite"
[[ "$("$bin/gnnbench" query --csv --database a-replayed.sqlite "SELECT count(*) FROM trials WHERE seed = 3 AND purpose = 'measure' AND status = 'ok'" | tail -n 1)" == 3 ]] ||
    fail "a replay did not run the cells as they were resolved"
gnnbench replay a.archive --only-compare --json
expect_code 0 "comparing again"
expect_text out '"agrees": true' "comparing again"

# What differs is said: results, data, and the environment.
change() {
    python3 - "$@" <<'PY'
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as c:
    c.executescript(sys.argv[2])
PY
}
cp a.archive b.archive
change b.archive "UPDATE trial SET final_loss = final_loss * 1.01, provenance = json_set(provenance, '\$.os', 'Plan 9');"
cp a-replayed.sqlite b-replayed.sqlite
gnnbench replay b.archive --only-compare
expect_code 3 "a loss that differs"
expect_text out "3 of 4 cells differ" "a loss that differs"
expect_text out "Plan 9" "an environment that differs"
cp a.archive c.archive
change c.archive "UPDATE trial SET sent_bytes_per_epoch = sent_bytes_per_epoch + 8 WHERE sent_bytes_per_epoch > 0;
    UPDATE archived SET content = replace(content, json_extract(content, '\$.cells[0].cell.dataset.digest'), 'other data')
    WHERE name = 'manifest.json'"
cp a-replayed.sqlite c-replayed.sqlite
gnnbench replay c.archive --only-compare
expect_code 3 "bytes and data that differ"
expect_text out "1 of 4 cells differ" "bytes that differ"
expect_text out "bytes an epoch archived" "bytes that differ"
expect_text out "other data" "data that differ"

# What was not measured here differs in that; it is no error.
cp a.archive e.archive
cp a-replayed.sqlite e-replayed.sqlite
change e-replayed.sqlite "DELETE FROM trial"
gnnbench replay e.archive --only-compare
expect_code 3 "nothing was measured here"
expect_text out "not measured here" "nothing was measured here"

# What is no archive, or is none of this program's.
gnnbench replay nothing.archive
expect_code 2 "no archive"
expect_text err "expected an archive of" "no archive"
echo text >text.archive
gnnbench replay text.archive
expect_code 2 "a text"
expect_plain_error "a text"
gnnbench replay a-replayed.sqlite
expect_code 2 "a database"
expect_text err "gnnbench results import" "a database"
cp a.archive d.archive
change d.archive "UPDATE archived SET content = json_set(content, '\$.format', 2) WHERE name = 'manifest.json'"
gnnbench replay d.archive
expect_code 2 "an archive of the future"
expect_text err "expected an archive of format 1; found 2" "an archive of the future"
change d.archive "UPDATE archived SET content = json_set(content, '\$.format', 1, '\$.cells[0].cell.scheme.name', 'lost')
    WHERE name = 'manifest.json'"
gnnbench replay d.archive
expect_code 2 "a plugin that is not there"
expect_text err "needs the scheme 'lost'" "a plugin that is not there"
echo "ok: archives and replays"
