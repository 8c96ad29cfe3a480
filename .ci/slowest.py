#!/usr/bin/env python3
"""The ten slowest build steps and tests of a CI run, and its time against a budget. Reports; never fails a run: a busy machine
is no fault of the tree."""

import argparse
import pathlib
import re
import time

TEST = re.compile(r"Test +#\d+: (\S+) \.* *(?:\*+)?(?:Passed|Failed|Timeout|Skipped|Exception)[^0-9]* ([0-9.]+) sec")


def build_steps(ninja_log, since_ns):
    """(seconds, output) of the steps whose output was written since then. Columns: start and end in ms since that build began,
    the output's time in ns, the output, a hash."""
    steps = {}
    for line in ninja_log.read_text().splitlines():
        fields = line.split("\t")
        if len(fields) == 5 and int(fields[2]) >= since_ns:
            steps[fields[3]] = (int(fields[1]) - int(fields[0])) / 1000
    return [(seconds, output) for output, seconds in steps.items()]


def tests(log):
    return [(float(seconds), name) for name, seconds in TEST.findall(log.read_text(errors="replace"))]


def report(title, rows):
    print(f"{title}: {len(rows)}, {sum(seconds for seconds, _ in rows):.0f} s in all; the slowest:")
    for seconds, name in sorted(rows, reverse=True)[:10]:
        print(f"{seconds:8.1f} s  {name}")


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--since-ms", type=int, required=True, help="when the run began, in ms since 1970")
    arguments.add_argument("--budget-s", type=float, required=True)
    arguments.add_argument("ninja_log", type=pathlib.Path)
    arguments.add_argument("log", type=pathlib.Path, help="what ./dev test printed")
    chosen = arguments.parse_args()
    if chosen.ninja_log.exists():
        report("CI: build steps", build_steps(chosen.ninja_log, chosen.since_ms * 10**6))
    report("CI: tests", tests(chosen.log))
    wall_s = time.time() - chosen.since_ms / 1000
    verdict = "within" if wall_s <= chosen.budget_s else "OVER"
    print(f"CI: {wall_s:.0f} s, {verdict} the budget of {chosen.budget_s:.0f} s")


if __name__ == "__main__":
    main()
