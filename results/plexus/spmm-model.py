#!/usr/bin/env python3
"""The thesis on Plexus, section 4.1, on SpMM times of this machine.

spmm-model.py report POINTS.csv [--figure FILE.svg]

POINTS.csv is what `./dev bench spmm_model` prints. A linear regression on the model's three terms is fitted to 70% of
the points at random and evaluated on the other 30%, a thousand times; beside it, on the same points, the roofline of the
simulated kernel, to which nothing is fitted. Needs Python's standard library, and gnuplot for the figure.
"""
import argparse
import csv
import math
import random
import statistics
import subprocess

SPLITS, TRAIN = 1000, 0.7


def solved(a, b):
    """x of a x = b, by elimination with pivots."""
    n = len(b)
    m = [row[:] + [v] for row, v in zip(a, b)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(m[r][i]))
        m[i], m[pivot] = m[pivot], m[i]
        for r in range(i + 1, n):
            f = m[r][i] / m[i][i]
            for c in range(i, n + 1):
                m[r][c] -= f * m[i][c]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (m[i][n] - sum(m[i][c] * x[c] for c in range(i + 1, n))) / m[i][i]
    return x


def fitted(xs, ys):
    """Least squares; columns are scaled to their norms, since the terms differ by orders of magnitude."""
    n = len(xs[0])
    norms = [math.sqrt(sum(x[k] ** 2 for x in xs)) or 1.0 for k in range(n)]
    z = [[x[k] / norms[k] for k in range(n)] for x in xs]
    a = [[sum(r[i] * r[j] for r in z) for j in range(n)] for i in range(n)]
    b = [sum(r[i] * y for r, y in zip(z, ys)) for i in range(n)]
    return [v / s for v, s in zip(solved(a, b), norms)]


def quality(ys, predicted):
    mean = statistics.fmean(ys)
    rest = sum((y - p) ** 2 for y, p in zip(ys, predicted))
    return 1 - rest / sum((y - mean) ** 2 for y in ys), math.sqrt(rest / len(ys))


def read(path):
    with open(path, newline="") as f:
        return [{k: v if k == "graph" else float(v) for k, v in row.items()}
                for row in csv.DictReader(line for line in f if not line.startswith("#"))]


def terms(p, per_rank, intercept):
    g = p["ranks"] if per_rank else 1
    return [p["root_flops"] / math.sqrt(g), p["forward"] / math.sqrt(g), p["backward"] / math.sqrt(g)] + [1.0] * intercept


def evaluated(points, predict):
    """Means over random splits of R² and RMSE; predict(train, points) gives a prediction for each of the points."""
    draw = random.Random(1)
    train_quality, test_quality = [], []
    for _ in range(SPLITS):
        order = draw.sample(points, len(points))
        cut = round(TRAIN * len(points))
        for part, found in ((order[:cut], train_quality), (order[cut:], test_quality)):
            found.append(quality([p["measured_ms"] for p in part], predict(order[:cut], part)))
    return [statistics.fmean(q[i] for q in found) for found in (train_quality, test_quality) for i in (0, 1)]


def regression(per_rank, intercept):
    def predict(train, part):
        c = fitted([terms(p, per_rank, intercept) for p in train], [p["measured_ms"] for p in train])
        return [sum(a * b for a, b in zip(c, terms(p, per_rank, intercept))) for p in part]
    return predict


def row(name, q):
    print(f"| {name} | {q[0]:.2f} | {q[1]:.3g} ms | {q[2]:.2f} | {q[3]:.3g} ms |")


def report(points):
    print(f"{len(points)} points, {SPLITS} random splits of {TRAIN:.0%} and {1 - TRAIN:.0%}; SpMM of an epoch takes "
          f"{min(p['measured_ms'] for p in points):.3g} to {max(p['measured_ms'] for p in points):.3g} ms\n")
    print("| | R², train | RMSE, train | R², test | RMSE, test |")
    print("| --- | --- | --- | --- | --- |")
    print("| thesis, 67 points of its own | 0.89 | 16.8 ms | 0.79 | 20.1 ms |")
    for per_rank, intercept, name in ((False, 1, "three terms as printed, with an intercept"),
                                      (False, 0, "three terms as printed, without"),
                                      (True, 1, "three terms, flops of a rank, with an intercept"),
                                      (True, 0, "three terms, flops of a rank, without")):
        row(name, evaluated(points, regression(per_rank, intercept)))
    row("roofline, calibrated, nothing fitted to these points", evaluated(points, lambda _, part: [p["roofline_ms"] for p in part]))
    c = fitted([terms(p, True, 0) for p in points], [p["measured_ms"] for p in points])
    print("\nCoefficients of the last regression on all points: " + ", ".join(f"{v:.2g}" for v in c) + ".")
    print("\n| graph | points | median measured | median error, three terms, flops of a rank | roofline |")
    print("| --- | --- | --- | --- | --- |")
    predicted = regression(True, 0)(points, points)
    for graph in dict.fromkeys(p["graph"] for p in points):
        of = [(p, q) for p, q in zip(points, predicted) if p["graph"] == graph]
        error = lambda pairs: statistics.median(abs(q / p["measured_ms"] - 1) for p, q in pairs)
        print(f"| {graph} | {len(of)} | {statistics.median(p['measured_ms'] for p, _ in of):.3g} ms | "
              f"{error(of):.0%} | {error([(p, p['roofline_ms']) for p, _ in of]):.0%} |")


def draw(points, path):
    predicted = regression(True, 0)(points, points)
    blocks = "".join(f"$d{i} << EOD\n" + "".join(f"{x} {p['measured_ms']}\n" for p, x in zip(points, xs) if x > 0) + "EOD\n"
                     for i, xs in enumerate((predicted, [p["roofline_ms"] for p in points])))
    script = f"""set terminal svg size 900,560 font 'Helvetica,13' background rgb 'white' noenhanced
set output '{path}'
set logscale xy
set border 3
set tics nomirror out
set grid lc rgb '#dddddd' lt 1
set key at graph 0.02, graph 0.98 left top Left reverse
set title "SpMM of an epoch, measured over predicted; {len(points)} grids of {len({p['graph'] for p in points})} graphs, one rank of each"
set xlabel 'predicted (ms)'
set ylabel 'measured (ms)'
{blocks}plot x with lines lc rgb '#999999' dt '-' title 'equal', \\
  $d0 with points lc rgb '#0072B2' pt 6 ps 1.1 title "the thesis' three terms, fitted to all points", \\
  $d1 with points lc rgb '#D55E00' pt 7 ps 0.9 title 'roofline of the calibrated machine, nothing fitted'
"""
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["report"])
    parser.add_argument("points")
    parser.add_argument("--figure")
    given = parser.parse_args()
    points = read(given.points)
    report(points)
    if given.figure:
        draw(points, given.figure)


if __name__ == "__main__":
    main()
