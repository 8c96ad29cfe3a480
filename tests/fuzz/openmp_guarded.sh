#!/usr/bin/env bash
# usage: openmp_guarded.sh FOLDER: every include of OpenMP's header directly follows a line that asks for _OPENMP.
set -euo pipefail
found="$(grep -rl --include='*.[ch]pp' '<omp\.h>' "$1" || true)"
for file in $found; do
    awk -v file="$file" '/<omp\.h>/ && before !~ /_OPENMP/ { print file ":" NR ": not within #ifdef _OPENMP"; bad = 1 }
        { before = $0 } END { exit bad }' "$file"
done
