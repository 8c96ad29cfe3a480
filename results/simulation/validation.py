#!/usr/bin/env python3
"""Holds predictions for a calibrated machine against measurements, on the cells of validation.yaml.

    validation.py measure FOLDER                  measures all cells twice, in FOLDER/first.sqlite and second.sqlite
    validation.py predict FOLDER --machine FILE   predicts them, and by a roofline that has the memory's bandwidth alone
    validation.py report FOLDER                   writes FOLDER/validation.csv, and prints the tables

GNNBENCH names the program (default: gnnbench of PATH).
"""
import argparse
import csv
import os
import pathlib
import re
import sqlite3
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PHASES = ["spmm", "gemm", "activation", "loss", "optimizer", "pack", "comm", "other"]
CELL = ["dataset", "hidden", "scheme", "gpus"]
# Nothing but the bytes that kernels and messages move, at one bandwidth.
ROOFLINE = """
name: roofline
about: one bandwidth for all bytes
nodes: {{value: 1, source: "-"}}
devices_per_node: {{value: 2, source: "-"}}
device:
  name: roofline
  memory_gb: {{value: 1000, source: "-"}}
  reserved_gb: {{value: 0, source: "-"}}
  memory_bandwidth_gbs: {{value: {bandwidth}, source: "{source}"}}
  cache_mb: {{value: 0, source: "-"}}
  cache_bandwidth_gbs: {{value: 1, source: "-"}}
  float32_tflops: {{value: 1e6, source: "-"}}
  float64_tflops: {{value: 1e6, source: "-"}}
  processors: {{value: 1, source: "-"}}
  host_link_gbs: {{value: {bandwidth}, source: "-"}}
  launch_us: {{value: 0, source: "-"}}
  least_kernel_us: {{value: 0, source: "-"}}
  stream_efficiency: {{value: 1, source: "-"}}
  gather_efficiency: {{value: 1, source: "-"}}
  cached_gather_efficiency: {{value: 1, source: "-"}}
  gemm_efficiency: {{value: 1, source: "-"}}
links:
  link_gbs: {{value: {bandwidth}, source: "-"}}
  among:
    2: {{value: 1, source: "-"}}
  nics: {{value: 1, source: "-"}}
  nic_gbs: {{value: {bandwidth}, source: "-"}}
  base_us: {{value: 0, source: "-"}}
  hop_us: {{value: 0, source: "-"}}
  network_hop_us: {{value: 0, source: "-"}}
  message_us: {{value: 0, source: "-"}}
"""


def run(folder, cells, name, *settings):
    program = os.environ.get("GNNBENCH", "gnnbench")
    options = [word for s in settings for word in ("--set", s)]
    command = [program, "--database", str(folder / f"{name}.sqlite"), "--data-dir", str(folder / "datasets"), "run",
               str(cells), "--no-verify", *options]
    print(" ".join(command), file=sys.stderr)
    with open(folder / f"{name}.log", "w") as log:
        if (code := subprocess.run(command, stdout=log, stderr=log).returncode) not in (0, 1):
            sys.exit(f"gnnbench ended with {code}: see {folder / name}.log")


def predict(folder, cells, machine, settings):
    numbers = dict(re.findall(r"^ *(\w+): \{value: ([^,]+),", machine.read_text(), re.M))
    roofline = folder / "roofline.yaml"
    roofline.write_text(ROOFLINE.format(bandwidth=numbers["memory_bandwidth_gbs"], source=machine.name))
    for name, file in (("predicted", machine), ("roofline", roofline)):
        run(folder, cells, name, f"kernel={{name: simulated, machine: {file.resolve()}}}", "warmup=0", "epochs=1",
            *settings)


def cells(folder, name):
    """By cell: ms of an epoch ("epoch"), and of each phase, whose medians over epochs are averaged over ranks."""
    database = sqlite3.connect(folder / f"{name}.sqlite")
    found = {}
    for trial, *cell, epoch_s in database.execute(
            f"SELECT trial, {', '.join(CELL)}, epoch_s FROM trials WHERE status = 'ok' AND purpose = 'measure'"):
        of_ranks = {}
        for phase, rank, seconds in database.execute(
                "SELECT phase, rank, seconds FROM phases WHERE trial = ? AND NOT warmup", (trial,)):
            of_ranks.setdefault(phase, {}).setdefault(rank, []).append(seconds)
        times = {p: 1e3 * statistics.mean(statistics.median(s) for s in ranks.values())
                 for p, ranks in of_ranks.items()}
        found[tuple(map(str, cell))] = times | {"epoch": 1e3 * epoch_s}
    return found


def summary(label, ratios):
    errors = sorted(abs(r - 1) for r in ratios)
    within = sum(e <= 0.25 for e in errors) / len(errors)
    print(f"| {label} | {len(errors)} | {statistics.median(ratios):.2f} | {statistics.median(errors):.1%} | {within:.0%} |")


def report(folder):
    first, second, predicted, roofline = (cells(folder, n) for n in ("first", "second", "predicted", "roofline"))
    common = sorted(first.keys() & second.keys() & predicted.keys() & roofline.keys())
    with open(folder / "validation.csv", "w", newline="") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow([*CELL, "measured_ms", "again_ms", "predicted_ms", "roofline_ms",
                        *(f"{side}_{p}_ms" for p in PHASES for side in ("measured", "predicted"))])
        for c in common:
            table.writerow([*c, *(f"{of[c]['epoch']:.4g}" for of in (first, second, predicted, roofline)),
                            *(f"{of[c].get(p, 0):.4g}" for p in PHASES for of in (first, predicted))])
    print("| ÷ measured | cells | median ratio | median error | within 25% |\n| --- | --- | --- | --- | --- |")
    for label, of in (("measured again", second), ("predicted", predicted), ("one-constant roofline", roofline)):
        summary(label, [of[c]["epoch"] / first[c]["epoch"] for c in common])
    for place, label in ((3, "predicted, {} ranks"), (2, "predicted, {}"), (0, "predicted, graph {}"), (1, "predicted, hidden {}")):
        for value in sorted({c[place] for c in common}):
            some = [c for c in common if c[place] == value]
            summary(label.format(value), [predicted[c]["epoch"] / first[c]["epoch"] for c in some])
    print("\n| phase ÷ measured, where it is 2% of the epoch | cells | median ratio | median error | within 25% |")
    print("| --- | --- | --- | --- | --- |")
    for p in PHASES:
        some = [c for c in common if first[c].get(p, 0) > 0.02 * first[c]["epoch"]]
        if some:
            summary(p, [predicted[c].get(p, 0) / first[c][p] for c in some])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["measure", "predict", "report"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--machine", type=pathlib.Path)
    parser.add_argument("--cells", type=pathlib.Path, default=HERE / "validation.yaml", help="other cells to measure and predict")
    parser.add_argument("--set", action="append", default=[], help="as gnnbench run takes it, for measure and predict")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.what == "measure":
        for name in ("first", "second"):
            run(given.folder, given.cells, name, *given.set)
    elif given.what == "predict":
        if not given.machine:
            parser.error("predict needs --machine")
        predict(given.folder, given.cells, given.machine, given.set)
    else:
        report(given.folder)


if __name__ == "__main__":
    main()
