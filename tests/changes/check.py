#!/usr/bin/env python3
"""What adding one of each kind of thing touches: the patches beside this file, each counted and held to its limit.

usage: check.py SOURCE [--apply FOLDER]   --apply: also applies all of them to a copy of the sources, together

Not counted: tests, and what GNNBENCH_REWRITE=1 writes. Fails where a patch no longer applies, or touches more."""

import os
import pathlib
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
# By patch: the most files outside back ends and new folders of plugins; how many of them use what was added.
limits = {
    "option": (2, 1, "its declaration and the model's member"),
    "verb": (2, 0, "its group's header and its check"),
    "layer": (3, 0, "the enumeration, its word, its linear maps"),
    "command": (2, 0, "its file and the list"),
    "strategy": (0, 0, "nothing but its own folder"),
}


def touched(patch):
    """(path, whether it is new) of each file that a patch touches."""
    lines = patch.read_text(encoding="utf-8").splitlines()
    files = []
    for i, line in enumerate(lines):
        if line.startswith("diff --git "):
            files.append((line.split(" b/", 1)[1], lines[i + 1].startswith("new file")))
    return files


def apply(patch, folder, *how):
    """git apply there: what is wrong, or nothing. In a folder of another repository git would pass over the files in silence."""
    outside = {**os.environ, "GIT_CEILING_DIRECTORIES": str(pathlib.Path(folder).resolve().parent)}
    done = subprocess.run(
        ["git", "apply", "-C1", *how, patch], cwd=folder, env=outside, capture_output=True, text=True, check=False
    )
    return done.stderr.strip() if done.returncode != 0 else ""


def main(source, copy):
    bad = []
    for name, (most, users, what) in limits.items():
        patch = here / f"{name}.patch"
        files = [(path, new) for path, new in touched(patch) if not path.startswith("tests/")]
        back_ends = [path for path, new in files if path.startswith("plugins/kernels/")]
        own = [path for path, new in files if new and path.startswith("plugins/strategies/")]
        others = [path for path, new in files if path not in back_ends + own]
        said = f"{name}: {len(others)} files"
        said += f" (at most {most}: {what}" + (f"; {users} that uses it)" if users else ")")
        if back_ends:
            kinds = {path.split("/")[2] for path in back_ends}
            said += f", {len(back_ends)} of {len(kinds)} back ends"
        if own:
            said += f", {len(own)} new ones of its own"
        print(said)
        if len(others) > most + users:
            bad.append(f"{name} touches {', '.join(others)}")
        if wrong := apply(patch, source, "--check"):
            bad.append(f"{name}.patch does not apply: {wrong}\n  mend the patch as the change would be made now")
        elif copy:
            wrong = apply(patch, copy) or apply(patch, copy, "--check", "--reverse")
            if wrong:
                bad.append(f"{name}.patch was not applied to {copy}: {wrong}")
    for line in bad:
        print(f"FAILED: {line}")
    return 1 if bad else 0


if __name__ == "__main__":
    arguments = sys.argv[1:]
    folder = arguments[arguments.index("--apply") + 1] if "--apply" in arguments else None
    sys.exit(main(arguments[0], folder))
