#!/usr/bin/env python3
"""A graph of PyG or DGL, and whether a store has the same: for exporter.sh.

exporter.py make pyg|dgl FILE     writes an object of the framework
exporter.py check STORE           compares the store with what the object had
exporter.py plain FOLDER          exports the same graph from NumPy arrays alone
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "experiments" / "baselines"))

VERTICES, FEATURES, CLASSES, SPLITS = 50, 3, 4, 10


def graph():
    """Directed, weighted, several labels a vertex, ten splits; vertex 49 is alone."""
    import numpy

    draw = numpy.random.default_rng(7)
    codes = draw.choice((VERTICES - 1) * (VERTICES - 1), 300, replace=False)
    kinds = draw.integers(0, 4, size=(VERTICES, SPLITS))  # 0 none, 1 train, 2 validation, 3 test
    kinds[0] = 1
    return {
        "edges": numpy.stack([codes // (VERTICES - 1), codes % (VERTICES - 1)]),
        "weights": draw.random(300, dtype=numpy.float32),
        "features": draw.standard_normal((VERTICES, FEATURES), dtype=numpy.float32),
        "labels": draw.integers(0, 2, size=(VERTICES, CLASSES)).astype(numpy.float32),
        "kinds": kinds,
    }


def masks(has):
    return {name: has["kinds"] == kind for name, kind in (("train_mask", 1), ("val_mask", 2), ("test_mask", 3))}


def make_pyg(path):
    import torch
    from torch_geometric.data import Data

    has = graph()
    data = Data(
        x=torch.from_numpy(has["features"]),
        edge_index=torch.from_numpy(has["edges"]),
        edge_weight=torch.from_numpy(has["weights"]),
        y=torch.from_numpy(has["labels"]),
        **{name: torch.from_numpy(mask) for name, mask in masks(has).items()},
    )
    torch.save(data, path)


def make_dgl(path):
    import dgl
    import torch

    has = graph()
    made = dgl.graph((torch.from_numpy(has["edges"][0]), torch.from_numpy(has["edges"][1])), num_nodes=VERTICES)
    made.edata["weight"] = torch.from_numpy(has["weights"])
    made.ndata["feat"] = torch.from_numpy(has["features"])
    made.ndata["label"] = torch.from_numpy(has["labels"])
    for name, mask in masks(has).items():
        made.ndata[name] = torch.from_numpy(mask)
    dgl.save_graphs(path, [made])


def make_plain(folder):
    from export_graph import export

    has = graph()
    data = {"x": has["features"], "edge_index": has["edges"], "edge_weight": has["weights"], "y": has["labels"]}
    export(data | masks(has), folder)


def check(store):
    import numpy

    has, store = graph(), pathlib.Path(store)
    arrays = {path.stem: numpy.load(path) for path in store.glob("*.npy")}
    manifest = json.loads((store / "manifest.json").read_text())
    rows = numpy.repeat(numpy.arange(VERTICES), numpy.diff(arrays["indptr"]))
    order = numpy.lexsort(has["edges"])  # by target, then by source: row v lists what v aggregates from
    expected = {
        "rows": (rows, has["edges"][1][order]),
        "indices": (arrays["indices"], has["edges"][0][order]),
        "weights": (arrays["weights"], has["weights"][order]),
        "features": (arrays["features"], has["features"]),
        "label_matrix": (arrays["label_matrix"], has["labels"]),
        "masks": (arrays["masks"], has["kinds"].T),
    }
    for name, (found, wanted) in expected.items():
        if found.shape != wanted.shape or not (found == wanted).all():
            sys.exit(
                f"{name} differ: found {found.ravel()[:10]} of shape {found.shape}, "
                f"expected {wanted.ravel()[:10]} of shape {wanted.shape}"
            )
    if manifest["synthetic"]:
        sys.exit(f"made up: {manifest['synthetic']}")


def main():
    import frameworks

    command, arguments = sys.argv[1], sys.argv[2:]
    if command == "make":
        frameworks.enter_environment(arguments[0])
        reason = frameworks.why_not(arguments[0], "cpu")
        if reason:
            print(reason)
            sys.exit(77)
        {"pyg": make_pyg, "dgl": make_dgl}[arguments[0]](arguments[1])
        return
    try:
        import numpy  # noqa: F401
    except ImportError:
        if frameworks.environments() in pathlib.Path(sys.prefix).parents:
            raise
        for framework in ("pyg", "dgl"):  # either has NumPy
            frameworks.enter_environment(framework)
        print("the Python package numpy is not installed")
        sys.exit(77)
    {"check": check, "plain": make_plain}[command](arguments[0])


if __name__ == "__main__":
    main()
