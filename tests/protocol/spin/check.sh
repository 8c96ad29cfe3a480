#!/usr/bin/env bash
# One search by Spin, and whether it ends as it should.
# usage: check.sh MODEL SEARCH EXPECTED [-DNAME[=VALUE] ...]
#   SEARCH    safety   every reachable state: deadlocks and the model's assertions
#             cycles   no execution goes on for ever (every cycle is reported)
#             ends     every worker ends, under weak fairness (with -DBACKOFF: locks are retried, so cycles exist)
#   EXPECTED  holds, deadlock, cycle, the beginning of the assertion that must fail, or fails (whichever is found first)
# Exits with 0 (as expected), 1 (not), or 77 where there is no spin or no C compiler. KEEP=folder keeps the verifier and the trail.
set -euo pipefail
here="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"
[[ $# -ge 3 ]] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2 && exit 2; }
model="$1" search="$2" expected="$3"
shift 3

compiler="${CC:-cc}"
command -v spin >/dev/null || { echo "skipped: no spin (Debian package spin)" && exit 77; }
command -v "$compiler" >/dev/null || { echo "skipped: no C compiler \"$compiler\" for Spin's verifiers" && exit 77; }

work="${KEEP:-}"
if [[ -z "$work" ]]; then
    work="$(mktemp -d)"
    trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work" && cd "$work"

# The verifier's memory is bounded, so that a model that grew fails here instead of filling the machine.
build=(-O1 -w -DMEMLIM=3000 -DCOLLAPSE) run=(-m200000)
case "$search" in
    safety) build+=(-DSAFETY) ;;
    cycles) build+=(-DNP) run+=(-l) ;;
    ends) build+=(-DNFAIR=3) run+=(-a -f) ;;
    *) echo "SEARCH is one of safety, cycles, ends; found \"$search\"" >&2 && exit 2 ;;
esac
spin -a "$@" "$here/$model.pml" >spin.log || { cat spin.log && exit 1; }
"$compiler" "${build[@]}" -o pan pan.c
./pan "${run[@]}" >pan.log 2>&1 || true

failed="$(sed -n 's/^pan:[0-9]*: \(.*\) (at depth.*$/\1/p' pan.log | sed 's/^\(assertion violated\)  */\1 /' | head -n 1)"
case "$failed" in
    "") found=holds ;;
    "invalid end state") found=deadlock ;;
    *cycle) found=cycle ;;
    "assertion violated "*) found="${failed#assertion violated }" ;;
    *) found="$failed" ;;
esac
# A search that was cut short proves nothing.
if [[ "$found" == holds ]]; then
    grep -q 'errors: 0$' pan.log || found="a search that did not end"
    ! grep -qE 'max search depth too small|Search not completed|out of memory|memory limit' pan.log || found="a search that was cut short"
fi

printf '%s %s %s: %s; %s states, %s transitions\n' "$model" "$search" "$*" "$found" \
    "$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' pan.log)" "$(sed -n 's/^ *\([0-9.e+]*\) transitions.*/\1/p' pan.log)"
grep -E 'elapsed time|actual memory usage|total actual' pan.log || true
if [[ "$found" != "$expected"* && ! ("$expected" == fails && -e "$model.pml.trail") ]]; then
    echo "expected: $expected"
    tail -n 40 pan.log
    # How it came about, one line a step.
    [[ ! -e "$model.pml.trail" ]] || spin -k "$model.pml.trail" -p -g "$@" "$here/$model.pml" | tail -n 120
    exit 1
fi
