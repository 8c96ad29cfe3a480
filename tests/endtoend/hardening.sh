#!/usr/bin/env bash
# usage: hardening.sh BUILD_FOLDER: program, worker, core and plugins are bound before they run, and their stacks are guarded.
set -euo pipefail
cd "$1"
bad=0
for file in bin/gnnbench bin/gnnbench-worker lib/libgnnbench_*.so lib/gnnbench/plugins/*.so; do
    grep -qE 'BIND_NOW|FLAGS.*NOW' <<<"$(readelf -dW "$file")" || { echo "$file: not bound before it runs (-z now)"; bad=1; }
    grep -q GNU_RELRO <<<"$(readelf -lW "$file")" || { echo "$file: no RELRO"; bad=1; }
done
# calls PATTERN WHAT FILE …: each file calls a function that guards it so.
calls() {
    local pattern="$1" what="$2" file
    for file in "${@:3}"; do
        grep -qE "$pattern" <<<"$(readelf --dyn-syms -W "$file")" || { echo "$file: no $what"; bad=1; }
    done
}
calls '__stack_chk_fail' 'stack protector' bin/gnnbench bin/gnnbench-worker lib/libgnnbench_{core,training,batches}.so
# The toolkits call nothing that FORTIFY guards.
calls '__[a-z]+_chk@' 'FORTIFY' bin/gnnbench bin/gnnbench-worker lib/libgnnbench_core.so
exit $bad
