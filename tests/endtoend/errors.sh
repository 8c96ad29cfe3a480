#!/usr/bin/env bash
# Bad input: each a message that names the thing at fault, and the right exit code.
# shellcheck source=tests/endtoend/lib.sh
source "$(dirname "$0")/lib.sh"
tiny_experiment tiny.yaml

# refused CODE TEXT WHAT ARGUMENT …
refused() {
    gnnbench "${@:4}"
    expect_code "$1" "$3"
    expect_text err "$2" "$3"
    expect_plain_error "$3"
}
# with SED_EXPRESSION: the tiny experiment, changed, as bad.yaml.
with() { sed "$1" tiny.yaml >bad.yaml; }

# Bad usage.
refused 2 "did you mean 'run'?" "a misspelt command" rnu tiny.yaml
refused 2 "--epochs" "an unknown option" run tiny.yaml --epochs 3
refused 2 "experiment" "no experiment" run
refused 2 "nope.yaml" "a missing file" run nope.yaml
refused 2 "expected key=value" "--set without a value" run tiny.yaml --set epochs
refused 2 "bash" "an unknown shell" completion tcsh

# A bad experiment: file, line, column, what was found, the nearest spelling.
with 's/^epochs:/epoch:/'
refused 2 "bad.yaml:10:1" "a misspelt key" run bad.yaml
expect_text err "'epochs'" "the nearest key"
with 's/^epochs: 3/epochs: many/'
refused 2 "bad.yaml:10:9" "a wrong type" validate bad.yaml
with 's/^epochs: 3/epochs: -3/'
refused 2 "bad.yaml:10:9" "out of range" run bad.yaml
with 's/mg-gcn/mg-gnc/'
refused 2 "mg-gcn" "a misspelt plugin" run bad.yaml
expect_text err "bad.yaml:5:20" "where the plugin is misspelt"
with 's/mg-gcn/{name: mg-gcn, overlap: 7}/'
refused 2 "overlap" "a plugin's parameter of a wrong type" run bad.yaml
with 's/relu/[relu/'
refused 2 "bad.yaml:" "no YAML at all" run bad.yaml
with 's/^dataset:.*/dataset: {path: no-such-graph.txt}/'
refused 2 "no-such-graph.txt" "a missing dataset file" run bad.yaml
[[ ! -e gnnbench.sqlite ]] || fail "a bad experiment made a database"

# A bad graph.
printf '0 1\n1 two\n' >graph.txt
refused 2 "graph.txt:2" "a malformed line" dataset import graph.txt --format edge-list
refused 2 "npz" "an unknown format" dataset import graph.txt --format excel
refused 2 "vertices" "a misspelt parameter" dataset generate dcsbm --set vertexes=10
refused 2 "nope" "a dataset that is not there" dataset info nope
refused 2 "at most 9 neighbours" "more neighbours than vertices" dataset generate bter --set vertices=10
refused 2 "did you mean 'cora'" "a misspelt profile" dataset generate like --set profile=corra
refused 2 "did you mean 'cora'" "a misspelt profile" dataset profiles corra
printf '{"name": "mine"}' >mine.json
refused 2 'mine.json: "about" is missing' "half a profile" dataset generate like --set profile_file=mine.json

# Plugins.
refused 5 "mg-gcn" "a plugin that is not there" plugin info mg-gnc
mkdir plugins
printf 'no library' >plugins/libpartitioner_broken.so
export GNNBENCH_PLUGIN_PATH="$work/plugins"
with 's/^partitioner: random/partitioner: broken/'
refused 5 "libpartitioner_broken.so" "a plugin that cannot be loaded" run bad.yaml
gnnbench plugin list
expect_code 0 "a list with a broken plugin in it"
expect_text err "libpartitioner_broken.so" "a list with a broken plugin in it"
# Libraries that end or stop whoever opens them: the list goes on, and tells.
cp "$bin"/../test-plugins/hostile/libpartitioner_{aborts,hangs}.so plugins/
gnnbench plugin list
expect_code 0 "a list with hostile plugins in it"
expect_text out "mg-gcn" "a list with hostile plugins in it"
expect_text err "libpartitioner_aborts.so was killed by signal 6" "a plugin that aborts"
expect_text err "libpartitioner_hangs.so did not end within" "a plugin that hangs"
unset GNNBENCH_PLUGIN_PATH
refused 2 "small letters" "a plugin name that is none" plugin new strategy "My Scheme"

# Queries.
refused 2 "nowhere.sqlite" "a database that is not there" --database nowhere.sqlite query "SELECT 1"
refused 2 "nowhere.sqlite" "epochs of a database that is not there" --database nowhere.sqlite query --named epochs 1a2b
refused 2 "nowhere.sqlite" "the table of a database that is not there" --database nowhere.sqlite table tiny
echo ok
