"""Partitions a graph's column-net hypergraph with PyPI's mtkahypar: FILE PARTS IMBALANCE SEEDS PRESET.

FILE holds, as int64: vertices, entries, the row offsets; then, as int32, the columns. Prints "result VOLUME CPU_SECONDS", medians.
"""
import os
import statistics
import sys
import time

import mtkahypar
import numpy

path, parts, imbalance, seeds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
with open(path, "rb") as file:
    n, entries = (int(x) for x in numpy.fromfile(file, numpy.int64, 2))
    offsets = numpy.fromfile(file, numpy.int64, n + 1)
    columns = numpy.fromfile(file, numpy.int32, entries).astype(numpy.int64)
rows = numpy.repeat(numpy.arange(n), numpy.diff(offsets))
# (net, pin), each once: the entries, and every column's own row.
keys = numpy.unique(numpy.concatenate([columns * n + rows, numpy.arange(n) * (n + 1)]))
net, pin = keys // n, keys % n
weights = numpy.bincount(pin, minlength=n).tolist()
first = numpy.searchsorted(net, numpy.arange(n + 1))
nets = [pin[first[j] : first[j + 1]].tolist() for j in range(n) if first[j + 1] - first[j] > 1]

threads = len(os.sched_getaffinity(0))
partitioner = mtkahypar.initialize(threads)
context = partitioner.context_from_preset(mtkahypar.PresetType.QUALITY if sys.argv[5] == "quality" else mtkahypar.PresetType.DEFAULT)
context.set_partitioning_parameters(parts, imbalance, mtkahypar.Objective.KM1)
volumes, seconds = [], []
for seed in range(1, seeds + 1):
    mtkahypar.set_seed(seed)
    hypergraph = partitioner.create_hypergraph(context, n, len(nets), nets, weights, [1] * len(nets))
    begin = time.process_time()
    volumes.append(hypergraph.partition(context).km1())
    seconds.append(time.process_time() - begin)
print("result", int(statistics.median(volumes)), statistics.median(seconds))
