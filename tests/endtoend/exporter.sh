#!/usr/bin/env bash
# Graphs of PyTorch Geometric and DGL come out of the exporter and the importer as they went in. Skipped (77) without
# NumPy, and each framework where it is not installed (experiments/baselines/setup.sh).
here="$(cd -- "$(dirname -- "$(readlink -f "$0")")" && pwd)"
# shellcheck source=tests/endtoend/lib.sh
source "$here/lib.sh"
exporter="$here/../../experiments/baselines/export_graph.py"

# import_exported FOLDER: its store has what the object had.
import_exported() {
    gnnbench dataset import "$1" --set weights=edge-feat --json
    expect_code 0 "import of $1"
    expect_text out '"licence": "CC0"' "the licence of $1"
    store="$(sed -n 's/^ *"store": "\(.*\)",*$/\1/p' out)"
    python3 "$here/exporter.py" check "$store" || fail "$1: the store differs"
}

status=0
python3 "$here/exporter.py" plain plain >out 2>err || status=$?
[[ $status -ne 77 ]] || { echo "skipped: $(cat out)"; exit 77; }
[[ $status -eq 0 ]] || fail "export from NumPy arrays"
echo CC0 >plain/LICENSE
import_exported plain

for framework in pyg:pt dgl:bin; do
    name="${framework%:*}" file="graph.${framework#*:}" status=0
    python3 "$here/exporter.py" make "$name" "$file" >out 2>err || status=$?
    if [[ $status -eq 77 ]]; then
        echo "skipped $name: $(cat out)"
        continue
    fi
    [[ $status -eq 0 ]] || fail "$name: no object"
    python3 "$exporter" "$file" "$name" --licence CC0 >out 2>err || fail "$name: the exporter"
    expect_text out "dataset import $name --set weights=edge-feat" "$name: the next command"
    ! python3 "$exporter" "$file" "$name" >out 2>err || fail "$name: a folder that is there was overwritten"
    expect_text err "is there already" "$name"
    import_exported "$name"
    echo "$name: the store has what the object had"
done
echo ok
