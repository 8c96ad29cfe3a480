#!/usr/bin/env bash
# first.sh ARCHIVE WHEEL …: from what was downloaded to the quickstart's table, by the archive, and by the wheel with PyPI's MPICH.
set -euo pipefail
limit_s=180

fail() {
    printf 'FAILED: %s\n' "$*"
    exit 1
}
[[ $EUID -ne 0 ]] || fail "this is for a user without root"
archive="$1" wheel="$2" wheels="$(dirname "$2")"

# table WHAT SECONDS: the table in the file out is the quickstart's, and was there in time.
table() {
    cat out
    if ! grep -q 'mg-gcn' out || ! grep -q 'cagnet-1d' out; then fail "$1: this is no table of the quickstart"; fi
    printf '== %s: a table after %d s\n' "$1" "$2"
    (($2 <= limit_s)) || fail "$1: it took more than $limit_s s"
}

mkdir "$HOME/archive" "$HOME/wheel"
cd -- "$HOME/archive"
began=$SECONDS
tar -xzf "$archive"
prefix="$(echo "$PWD"/gnnbench-*-cpu)"
"$prefix/bin/gnnbench" run quickstart >out 2>err || { cat out err && fail "the archive"; }
table archive $((SECONDS - began))

cd -- "$HOME/wheel"
began=$SECONDS
python3 -m venv env
env/bin/pip install -q --no-index --find-links "$wheels" "gnnbench[mpich] @ file://$wheel"
env/bin/gnnbench run quickstart >out 2>err || { cat out err && fail "the wheel"; }
table wheel $((SECONDS - began))
