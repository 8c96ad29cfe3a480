#!/usr/bin/env python3
"""Counts that say how large and how entangled the project is: lines of code, lines of ./dev, files that name simulation.

usage: .ci/counts.py [COMMIT ...]   also the files that each commit touched, by folder, for "what does one more option take?"

A line of code is neither blank nor comment alone, in host and plugins, as clang-format lays it out."""

import collections
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
sources = {".cpp", ".hpp", ".cu", ".cuh"}
# What the engine of simulated ranks is made of; elsewhere its words stand for a dependency on it.
of_simulation = re.compile(r"simulat|expect(ed|ation)_", re.IGNORECASE)
words_of_simulation = re.compile(r"simulat|expected.graph|ExpectedGraph|MadeOnce", re.IGNORECASE)
# What core offers for it: objects that ranks of one process share, orders and graphs of which only sizes are known.
words_for_simulation = re.compile(r"SharedSetup|made_once|SizedOrder|sized_order|KnownSparsity|has_entries|require_entries")


def tracked(*folders):
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z", "--", *folders], capture_output=True, check=True)
    return [pathlib.Path(name.decode()) for name in listed.stdout.split(b"\0") if name]


def code_lines(text):
    """Of C++: lines with anything but white space and comments."""
    text = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)  # strings may hold what looks like a comment
    text = re.sub(r"/\*.*?\*/", lambda comment: "\n" * comment.group().count("\n"), text, flags=re.DOTALL)
    return sum(1 for line in text.splitlines() if line.split("//")[0].strip())


def main(commits):
    lines = collections.Counter()
    entangled, prepared = [], []
    for path in tracked("host", "plugins"):
        if path.suffix not in sources:
            continue
        text = (root / path).read_text(encoding="utf-8")
        lines[path.parts[0]] += code_lines(text)
        parts = path.as_posix()
        is_core = parts.startswith(("host/core/", "host/training/", "host/batches/", "host/include/", "plugins/strategies/"))
        if is_core and not of_simulation.search(parts) and words_of_simulation.search(text):
            entangled.append(parts)
        if is_core and words_for_simulation.search(text):
            prepared.append(parts)
    print(f"code lines of host and plugins: {sum(lines.values())} (host {lines['host']}, plugins {lines['plugins']})")
    print(f"lines of dev: {len((root / 'dev').read_text().splitlines())}")
    print(f"files of core, interface and strategies outside simulation that name it: {len(entangled)}")
    for parts in entangled:
        print(f"  {parts}")
    print(f"files of them that serve ranks of one process, or graphs without entries: {len(prepared)}")
    for parts in prepared:
        print(f"  {parts}")
    for commit in commits:
        shown = subprocess.run(
            ["git", "-C", root, "show", "--format=%h %s", "--name-only", commit], capture_output=True, check=True, text=True
        ).stdout.splitlines()
        files = [name for name in shown[1:] if name]
        folders = collections.Counter(name.split("/")[0] for name in files)
        print(f"{shown[0]}: {len(files)} files ({', '.join(f'{n} in {name}' for name, n in sorted(folders.items()))})")


if __name__ == "__main__":
    main(sys.argv[1:])
