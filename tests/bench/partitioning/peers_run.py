"""Partitions a graph once by a partitioner of PyPI: MODULE GRAPH PARTS_FILE PARTS IMBALANCE SEED PRESET.

GRAPH holds, as int64: vertices, entries, the row offsets; then, as int32, the columns. MODULE is mtkahypar, which gets the
column-net hypergraph and its objective km1, or kaminpar, which gets the symmetrised graph and has the cut as its objective;
both get the nonzeros of rows, with the diagonal, as weights. Writes the vertices' parts as int32, and prints "cpu_s SECONDS" of
partitioning alone, all threads together.
"""
import os
import sys
import tempfile
import time

import numpy

THREADS = len(os.sched_getaffinity(0))


def read(path):
    with open(path, "rb") as file:
        n, entries = (int(x) for x in numpy.fromfile(file, numpy.int64, 2))
        offsets = numpy.fromfile(file, numpy.int64, n + 1)
        columns = numpy.fromfile(file, numpy.int32, entries).astype(numpy.int64)
    return n, numpy.repeat(numpy.arange(n), numpy.diff(offsets)), columns


def weights_of(n, rows, columns):
    return numpy.bincount(rows[rows != columns], minlength=n) + 1


def by_mtkahypar(n, rows, columns, parts, imbalance, seed, preset):
    import mtkahypar

    # (net, pin), each once: the entries, and every column's own row.
    keys = numpy.unique(numpy.concatenate([columns * n + rows, numpy.arange(n) * (n + 1)]))
    net, pin = keys // n, keys % n
    first = numpy.searchsorted(net, numpy.arange(n + 1))
    nets = [pin[first[j] : first[j + 1]].tolist() for j in range(n) if first[j + 1] - first[j] > 1]
    partitioner = mtkahypar.initialize(THREADS)
    presets = mtkahypar.PresetType
    context = partitioner.context_from_preset(presets.QUALITY if preset == "quality" else presets.DEFAULT)
    context.set_partitioning_parameters(parts, imbalance, mtkahypar.Objective.KM1)
    mtkahypar.set_seed(seed)
    hypergraph = partitioner.create_hypergraph(
        context, n, len(nets), nets, weights_of(n, rows, columns).tolist(), [1] * len(nets)
    )
    begin = time.process_time()
    partitioned = hypergraph.partition(context)
    seconds = time.process_time() - begin
    return [partitioned.block_id(v) for v in range(n)], seconds


def by_kaminpar(n, rows, columns, parts, imbalance, seed, preset):
    import kaminpar

    apart = rows != columns
    u, v = rows[apart], columns[apart]
    keys = numpy.unique(numpy.concatenate([u * n + v, v * n + u]))
    first = numpy.searchsorted(keys // n, numpy.arange(n + 1))
    neighbours = (keys % n + 1).astype(str)
    weights = weights_of(n, rows, columns)
    with tempfile.NamedTemporaryFile("w", suffix=".metis") as file:
        file.write(f"{n} {len(keys) // 2} 10\n")
        for vertex in range(n):
            file.write(" ".join([str(weights[vertex]), *neighbours[first[vertex] : first[vertex + 1]]]) + "\n")
        file.flush()
        graph = kaminpar.load_graph(file.name, kaminpar.GraphFileFormat.METIS)
    kaminpar.reseed(seed)
    context = kaminpar.strong_context() if preset == "quality" else kaminpar.default_context()
    instance = kaminpar.KaMinPar(THREADS, context)
    begin = time.process_time()
    found = instance.compute_partition(graph, parts, imbalance)
    return found, time.process_time() - begin


def main():
    module, graph, output, parts, imbalance, seed, preset = sys.argv[1:]
    partition = {"mtkahypar": by_mtkahypar, "kaminpar": by_kaminpar}[module]
    found, seconds = partition(*read(graph), int(parts), float(imbalance), int(seed), preset)
    numpy.asarray(found, numpy.int32).tofile(output)
    print("cpu_s", seconds, flush=True)


if __name__ == "__main__":
    main()
