#!/usr/bin/env bash
# Code that is built anew, reruns that are interrupted, launchers that cannot start, expressions that fit nothing.
# shellcheck source=tests/endtoend/lib.sh
source "$(dirname "$0")/lib.sh"
tiny_experiment tiny.yaml
gnnbench run tiny.yaml
expect_code 0 "the first run"
verified="SELECT count(*) FROM trial WHERE purpose = 'verify' AND status = 'ok'"
expect_value "$verified" 3 "verifications of the first run"

# A plugin is built anew: its results stay, and nothing vouches for it until it is checked again.
mkdir plugins
cp "$bin/../lib/gnnbench/plugins/libstrategy_mg-gcn.so" plugins/
printf 'built anew' >>plugins/libstrategy_mg-gcn.so
export GNNBENCH_PLUGIN_PATH="$work/plugins"
gnnbench run tiny.yaml --no-verify
expect_code 0 "a plugin built anew, unchecked"
expect_text err "2 cells hold trials of another build of gnnbench or its plugins; --stale" "a plugin built anew"
expect_text out "unverified (verified as built when it was measured, not since" "a plugin built anew, unchecked"
gnnbench table tiny --json
expect_text out '"of_other_builds": 2' "a plugin built anew, as data"
gnnbench run tiny.yaml
expect_code 0 "a plugin built anew"
expect_text err "nothing to run; 6 trials there already" "a plugin built anew runs nothing"
expect_text err "2 combinations of scheme and setting checked" "a plugin built anew is checked"
expect_value "$verified" 5 "only what mg-gcn computes is checked again"
refuse_text out "unverified" "a plugin built anew, checked"
expect_text out "measured by another build of its code" "whose trials they are"
gnnbench run tiny.yaml
expect_value "$verified" 5 "once is enough"
gnnbench run tiny.yaml --stale
expect_code 0 "--stale"
expect_text err "4 trials run" "--stale measures what the other plugin measured"
refuse_text out "another build" "--stale"
unset GNNBENCH_PLUGIN_PATH

# A rerun that is interrupted goes on, with the command that is named, and only with what it did not get to.
tiny_experiment six.yaml
sed -i -e 's/^name: .*/name: six/' -e 's/^trials: .*/trials: 3/' -e 's/gpus: .*/gpus: [1]/' -e 's/^epochs: 3/epochs: 400/' six.yaml
gnnbench run six.yaml --no-verify
expect_code 0 "six trials"
newest="SELECT count(*) FROM trial t JOIN experiment x ON x.id = t.experiment_id WHERE x.name = 'six' AND t.status = 'ok'"
expect_value "$newest" 6 "six trials"
"$bin/gnnbench" run six.yaml --no-verify --rerun >"$work/out" 2>"$work/err" &
host=$!
until_value "SELECT ($newest) >= 8" 1 120 "two trials run again"
kill -INT "$host"
code=0
wait "$host" || code=$?
expect_code 130 "an interrupted rerun"
expect_text err "this goes on: gnnbench run six.yaml" "an interrupted rerun"
done_again=$(($(ask "$newest") - 6))
gnnbench table six
expect_text out "a rerun is unfinished: $((6 - done_again)) of 6 trials are from before it" "the table of an unfinished rerun"
gnnbench plan six.yaml
expect_text out "of them of an unfinished rerun" "the plan of an unfinished rerun"
gnnbench run six.yaml --no-verify
expect_code 0 "it goes on"
expect_text err "going on with the rerun of" "it goes on"
expect_text err "$((6 - done_again)) trials run" "it goes on with the rest"
expect_value "$newest" 12 "each ran twice"
refuse_text out "unfinished" "it is finished"
gnnbench run six.yaml --no-verify
expect_text err "nothing to run; 6 trials there already" "it stays finished"

# A launcher that cannot start ranks: no failure of a cell, and due again.
cat >broken-mpiexec <<'SH'
#!/bin/sh
[ "$1" = --version ] && { echo "mpiexec (OpenRTE) 4.1.4"; exit 0; }
echo "ORTE was unable to find a usable network interface" >&2
exit 213
SH
chmod +x broken-mpiexec
export GNNBENCH_DATABASE=broken.sqlite
GNNBENCH_MPIEXEC="$work/broken-mpiexec" gnnbench run tiny.yaml
expect_code 5 "a launcher that cannot start"
expect_text err "ORTE was unable to find a usable network interface" "what the launcher said"
expect_text err "exit code 213 before any rank began" "a launcher that cannot start"
expect_plain_error "a launcher that cannot start"
expect_value "SELECT count(*) FROM trial WHERE status NOT IN ('interrupted', 'skipped')" 0 "nothing is held against a cell"
GNNBENCH_MPIEXEC="$work/broken-mpiexec" gnnbench verify tiny.yaml
expect_code 5 "verify with a launcher that cannot start"
expect_text err "ORTE was unable" "verify with a launcher that cannot start"
gnnbench run tiny.yaml
expect_code 0 "a launcher that can"
expect_text err "6 trials run" "all is due again"
unset GNNBENCH_DATABASE

# An expression that fits nothing says what there is; what tables show can be asked for.
gnnbench run tiny.yaml --where "scheme = 'mggcn' AND gpus > 1"
expect_code 2 "an expression that fits nothing"
expect_text err "scheme is 'serial', 'mg-gcn'" "the values there are"
expect_text err "gpus is 1, 2" "the values there are"
gnnbench plan tiny.yaml --where "gpus = 3"
expect_code 2 "a plan of nothing"
gnnbench plan tiny.yaml --where "partitioner = 'none'"
expect_code 0 "one part has no partitioner, as tables show it"
expect_text out "2 cells" "one part has no partitioner"
gnnbench run tiny.yaml --rerun --no-verify --where "partitioner = 'none' AND scheme = 'serial'"
expect_code 0 "a run of what tables show"
expect_text err "2 trials run" "a run of what tables show"
echo ok
