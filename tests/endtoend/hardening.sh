#!/usr/bin/env bash
# usage: hardening.sh BUILD_FOLDER: program, worker, core and plugins are bound before they run, and their stacks are guarded.
set -euo pipefail
cd "$1"
bad=0
for file in bin/gnnbench bin/gnnbench-worker lib/libgnnbench_*.so lib/gnnbench/plugins/*.so; do
    grep -qE 'BIND_NOW|FLAGS.*NOW' <<<"$(readelf -dW "$file")" || { echo "$file: not bound before it runs (-z now)"; bad=1; }
    grep -q GNU_RELRO <<<"$(readelf -lW "$file")" || { echo "$file: no RELRO"; bad=1; }
done
for file in bin/gnnbench bin/gnnbench-worker lib/libgnnbench_{core,training,batches}.so; do
    symbols="$(readelf --dyn-syms -W "$file")"
    grep -q '__stack_chk_fail' <<<"$symbols" || { echo "$file: no stack protector"; bad=1; }
    # The toolkits call nothing that FORTIFY guards.
    [[ "$file" == */libgnnbench_training.so || "$file" == */libgnnbench_batches.so ]] ||
        grep -qE '__[a-z]+_chk@' <<<"$symbols" || { echo "$file: no FORTIFY"; bad=1; }
done
exit $bad
