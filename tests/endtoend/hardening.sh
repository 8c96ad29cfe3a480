#!/usr/bin/env bash
# usage: hardening.sh BUILD_FOLDER: program, worker, core and plugins are bound before they run, and their stacks are guarded.
set -euo pipefail
cd "$1"
bad=0
for file in bin/gnnbench bin/gnnbench-worker lib/libgnnbench_core.so lib/gnnbench/plugins/*.so; do
    readelf -dW "$file" | grep -qE 'BIND_NOW|FLAGS.*NOW' || { echo "$file: not bound before it runs (-z now)"; bad=1; }
    readelf -lW "$file" | grep -q GNU_RELRO || { echo "$file: no RELRO"; bad=1; }
done
for file in bin/gnnbench bin/gnnbench-worker lib/libgnnbench_core.so; do
    readelf --dyn-syms -W "$file" | grep -q '__stack_chk_fail' || { echo "$file: no stack protector"; bad=1; }
    readelf --dyn-syms -W "$file" | grep -qE '__[a-z]+_chk@' || { echo "$file: no FORTIFY"; bad=1; }
done
exit $bad
