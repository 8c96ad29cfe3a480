#!/usr/bin/env bash
# plugin_package.sh BUILD_TREE CXX CMAKE: installs to a temporary prefix, makes plugins outside the tree with
# find_package(gnnbench), loads them through GNNBENCH_PLUGIN_PATH, and sees one of another interface version refused.
set -euo pipefail
build="$1" cxx="$2" cmake="$3"
bin="$build/bin"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

fail() {
    printf 'FAILED: %s\n' "$*"
    exit 1
}

# expect WHAT TEXT FOUND: TEXT occurs in FOUND.
expect() { [[ "$3" == *"$2"* ]] || fail "$1: expected \"$2\", found \"$3\""; }

# quietly COMMAND …: its output only if it fails.
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log" && fail "$*"; }; }

# make_plugin FOLDER TREE CMAKE_ARGUMENT …
make_plugin() {
    quietly "$cmake" -S "$1" -B "$2" -G Ninja -DCMAKE_CXX_COMPILER="$cxx" "${@:3}"
    quietly "$cmake" --build "$2"
}

prefix="$work/prefix"
quietly "$cmake" --install "$build" --prefix "$prefix"
for there in lib/libgnnbench_{core,training,batches}.so lib/gnnbench/plugins/libpartitioner_metis.so include/gnnbench/plugin.hpp \
    lib/cmake/gnnbench/gnnbenchConfig.cmake share/gnnbench/plugin-template; do
    [[ -e "$prefix/$there" ]] || fail "the install has no $there"
done
if grep -rIl "$build" "$prefix/lib/cmake" "$prefix/share"; then fail "the files above name the build tree"; fi

# The installed program, after its folder was moved, finds its plugins and its templates.
mv "$prefix" "$work/moved"
prefix="$work/moved"
gnnbench="$prefix/bin/gnnbench"
expect "the installed program's plugins" "$prefix/lib/gnnbench/plugins/libpartitioner_metis.so" \
    "$("$gnnbench" plugin info metis)"

# A partitioner of one's own.
mkdir "$work/own"
(cd "$work/own" && quietly "$gnnbench" plugin new partitioner my-parts)
make_plugin "$work/own/my-parts" "$work/tree" -DCMAKE_PREFIX_PATH="$prefix"
library="$work/tree/libpartitioner_my-parts.so"
if readelf -d "$library" | grep NEEDED | grep -i mpi; then fail "the plugin links MPI itself"; fi
# of_interface LIBRARY: what it needs of the plugin interface.
of_interface() { readelf -d "$1" | sed -n 's/.*NEEDED.*\[libgnnbench_\([a-z]*\)\.so\.[0-9]*\]/\1/p' | sort | xargs; }
expect "a partitioner needs the core alone" "[core]" "[$(of_interface "$library")]"
expect "a strategy on whole graphs" "[core training]" "[$(of_interface "$prefix/lib/gnnbench/plugins/libstrategy_sa-1d.so")]"
expect "one on batches" "[batches core training]" \
    "[$(of_interface "$prefix/lib/gnnbench/plugins/libstrategy_gossip-gcn.so")]"
expect "without GNNBENCH_PLUGIN_PATH" 'no plugin' "$("$gnnbench" plugin info my-parts 2>&1 || true)"
export GNNBENCH_PLUGIN_PATH="$work/tree"
expect "the installed program with a plugin of one's own" "$library" "$("$gnnbench" plugin info my-parts)"
expect "ten vertices in three parts" "0 1 2 0 1 2 0 1 2 0" "$("$bin/plugin_probe" partition my-parts)"
quietly "$bin/contract_partitioner" 'contract:*' # what is asked of each partitioner

# A format of one's own: recognised, imported, used by an experiment's `dataset`, and in help.
(cd "$work/own" && quietly "$gnnbench" plugin new importer my-format)
make_plugin "$work/own/my-format" "$work/format" -DCMAKE_PREFIX_PATH="$prefix"
example="$work/own/my-format/example.my-format"
expect "without GNNBENCH_PLUGIN_PATH" "does not determine its format" \
    "$("$gnnbench" dataset import "$example" --data-dir "$work/data" 2>&1 || true)"
with_format() { GNNBENCH_PLUGIN_PATH="$work/format" "$@"; }
expect "an importer of one's own" "first_id" "$(with_format "$gnnbench" plugin info my-format)"
expect "an importer in help" "my-format: a line" "$(with_format "$gnnbench" dataset import --help)"
expect "what it imported" '"loops_dropped":1' "$(with_format "$gnnbench" dataset import "$example" --data-dir "$work/data" \
    --set loops=drop --json | tr -d ' ')"
cp "$example" "$work/other-name.txt"
quietly with_format "$gnnbench" dataset import "$work/other-name.txt" --format my-format --data-dir "$work/data" \
    --set repeats=sum
cat >"$work/format.yaml" <<YAML
name: format
dataset: {path: $example, format: my-format, features: 4, classes: 2}
model: {hidden: [4]}
scheme: serial
epochs: 2
warmup: 0
trials: 1
YAML
quietly with_format "$bin/gnnbench" run "$work/format.yaml" --database "$work/format.sqlite" --data-dir "$work/data"
expect "a trial on it" "ok" "$("$bin/gnnbench" query 'SELECT status FROM trials' --database "$work/format.sqlite" --csv | tail -n 1)"

# A strategy of independent workers, against the build tree instead of the install, which trains (tutorial 3 has one on whole graphs).
(cd "$work/own" && quietly "$bin/gnnbench" plugin new strategy my-workers --workers)
make_plugin "$work/own/my-workers" "$work/workers" -Dgnnbench_DIR="$build/package"
cat >"$work/workers.yaml" <<'YAML'
name: workers
dataset: {generate: dcsbm, vertices: 200, average_degree: 8, features: 4, classes: 3}
model: {hidden: [4]}
scheme: {name: my-workers, clusters: 6}
partitioner: random
gpus: 2
epochs: 3
warmup: 0
trials: 1
YAML
GNNBENCH_PLUGIN_PATH="$work/workers" quietly "$bin/gnnbench" run "$work/workers.yaml" --database "$work/workers.sqlite"
expect "every batch of every epoch trained once" "18" \
    "$("$bin/gnnbench" query 'SELECT sum(steps) AS steps FROM workers' --database "$work/workers.sqlite" --csv | tail -n 1)"

GNNBENCH_PLUGIN_PATH="$work/workers" quietly "$bin/contract_batches"

# The same partitioner with headers of another interface version.
cp -r "$prefix" "$work/other"
sed -i 's/^#define GNNBENCH_CORE_VERSION .*/#define GNNBENCH_CORE_VERSION 4711/' "$work/other/include/gnnbench/version.hpp"
make_plugin "$work/own/my-parts" "$work/other-tree" -DCMAKE_PREFIX_PATH="$work/other"
ours="$(sed -n 's/^#define GNNBENCH_CORE_VERSION //p' "$prefix/include/gnnbench/version.hpp")"
export GNNBENCH_PLUGIN_PATH="$work/other-tree"
code=0
said="$("$gnnbench" plugin info my-parts 2>&1)" || code=$?
[[ $code -eq 5 ]] || fail "another interface version: exit code $code instead of 5; said \"$said\""
expect "another interface version" "version 4711" "$said"
expect "our interface version" "has version $ours" "$said"
expect "the refused file" "$work/other-tree/libpartitioner_my-parts.so" "$said"
expect "the refused plugin does not hide the others" "metis" "$("$gnnbench" plugin list 2>/dev/null)"
echo "ok"
