#!/usr/bin/env python3
"""Partitions an hMETIS file by connectivity-1 with PyPI's mtkahypar, for the partitioner `command`:

    partitioner:
      name: command
      program: experiments/baselines/mtkahypar_partition.py
      format: hmetis
      arguments: --preset DEFAULT {graph} {parts} {imbalance} {seed} {threads} {output}

Runs with the environment of `setup.sh mtkahypar` where this Python has no mtkahypar. DEFAULT and QUALITY give the same
partition for a seed only at one thread; DETERMINISTIC does at any number.
"""
import argparse
import os
import sys


def own_environment():
    """The Python of setup.sh's environment."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    base = os.environ.get("GNNBENCH_BASELINES") or os.path.join(cache, "gnnbench", "baselines")
    return os.path.join(base, "mtkahypar", "bin", "python")


def load():
    try:
        import mtkahypar

        return mtkahypar
    except ImportError:
        python = own_environment()
        if os.path.exists(python) and os.path.realpath(sys.prefix) != os.path.realpath(os.path.dirname(python) + "/.."):
            os.execv(python, [python, *sys.argv])
        sys.exit("this Python has no mtkahypar; experiments/baselines/setup.sh mtkahypar --yes installs it")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--preset", default="DEFAULT", help="DEFAULT, QUALITY, HIGHEST_QUALITY, DETERMINISTIC, …")
    parser.add_argument("graph")
    parser.add_argument("parts", type=int)
    parser.add_argument("imbalance", type=float)
    parser.add_argument("seed", type=int)
    parser.add_argument("threads", type=int)
    parser.add_argument("output")
    given = parser.parse_args()
    mtkahypar = load()
    presets = mtkahypar.PresetType.__members__
    if given.preset not in presets:
        sys.exit(f"there is no preset {given.preset}; there are {', '.join(presets)}")
    if given.parts == 1:  # which it refuses
        with open(given.graph, encoding="ascii") as graph, open(given.output, "w", encoding="ascii") as output:
            output.write("0\n" * int(graph.readline().split()[1]))
        return
    library = mtkahypar.initialize(given.threads)
    mtkahypar.set_seed(given.seed)
    context = library.context_from_preset(presets[given.preset])
    context.set_partitioning_parameters(given.parts, given.imbalance, mtkahypar.Objective.KM1)
    context.logging = False
    hypergraph = library.hypergraph_from_file(given.graph, context, mtkahypar.FileFormat.HMETIS)
    hypergraph.partition(context).write_partition_to_file(given.output)


if __name__ == "__main__":
    main()
