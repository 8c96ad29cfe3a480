#!/usr/bin/env python3
"""Writes a graph of PyTorch Geometric or DGL as a folder that `gnnbench dataset import` reads.

    export_graph.py data.pt cora/         # a PyG Data, written by torch.save, or a dataset's processed/data.pt
    export_graph.py graphs.bin cora/      # a DGL graph, written by dgl.save_graphs; the first one in the file
    gnnbench dataset import cora/

From Python, without a file in between: export(graph_or_data, "cora/"). Needs NumPy and the object's framework, not the
other one. The folder has OGB's layout with data.npz: edges, their weights if there are any, features, labels (one for
each vertex, or a matrix of 0 and 1) and masks (any number of splits). Further attributes are left out.
"""

import argparse
import gzip
import importlib.util
import pathlib
import shutil
import sys

FRAMEWORKS = {".pt": "pyg", ".pth": "pyg", ".bin": "dgl", ".dgl": "dgl"}
PACKAGES = {"pyg": "torch_geometric", "dgl": "dgl"}
MASKS = {"train": "train_mask", "valid": "val_mask", "test": "test_mask"}


class Refused(Exception):
    """What cannot be exported, and why."""


def as_numpy(values):
    import numpy

    if values is None:
        return None
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        values = (values.float() if values.is_floating_point() else values).numpy()
    return numpy.asarray(values)


def one_of(mapping, names):
    """The first of the names that is there, as an array."""
    for name in names:
        if name in mapping and mapping[name] is not None:
            return as_numpy(mapping[name])
    return None


def from_pyg(data):
    """The parts of a Data object, or of a dictionary with its attributes."""
    stored = data if isinstance(data, dict) else data.to_dict()
    if stored.get("edge_index") is None:
        raise Refused("the object has no edge_index; with several types of vertices, or adj_t only, it is not exported")
    edges = as_numpy(stored["edge_index"])
    features, labels = one_of(stored, ["x"]), one_of(stored, ["y"])
    vertices = stored.get("num_nodes") or getattr(data, "num_nodes", None)
    if vertices is None:
        vertices = len(features if features is not None else labels if labels is not None else [])
    weights = one_of(stored, ["edge_weight"])
    if weights is None and one_of(stored, ["edge_attr"]) is not None:
        attributes = one_of(stored, ["edge_attr"])
        weights = attributes if attributes.size == edges.shape[1] else None
    masks = {name: one_of(stored, [key]) for name, key in MASKS.items()}
    return {
        "vertices": int(vertices),
        "edges": edges,
        "features": features,
        "labels": labels,
        "weights": weights,
        "masks": masks,
    }


def from_dgl(graph):
    if len(graph.ntypes) != 1 or len(graph.etypes) != 1:
        raise Refused(
            f"the graph has {len(graph.ntypes)} types of vertices and {len(graph.etypes)} of edges; "
            "one of each is exported"
        )
    import numpy

    source, target = graph.edges(order="eid")
    return {
        "vertices": graph.num_nodes(),
        "edges": numpy.stack([as_numpy(source), as_numpy(target)]),
        "features": one_of(graph.ndata, ["feat", "features", "x"]),
        "labels": one_of(graph.ndata, ["label", "labels", "y"]),
        "weights": one_of(graph.edata, ["weight", "w", "edge_weight"]),
        "masks": {name: one_of(graph.ndata, [key]) for name, key in MASKS.items()},
    }


def splits_of(masks, vertices):
    """For each split the vertices of each mask. A mask is [n x splits], or [n], which holds for every split."""
    import numpy

    if masks["train"] is None:
        return []
    present = {name: mask.reshape(len(mask), -1).astype(bool) for name, mask in masks.items() if mask is not None}
    count = max(mask.shape[1] for mask in present.values())
    for name, mask in present.items():
        if mask.shape[0] != vertices or mask.shape[1] not in (1, count):
            raise Refused(
                f"the {name} mask has the shape {mask.shape}, expected {vertices} rows and 1 or {count} columns"
            )

    def members(name, split):
        if name not in present:
            return []
        mask = present[name]
        return numpy.flatnonzero(mask[:, split if mask.shape[1] > 1 else 0])

    return [{name: members(name, split) for name in MASKS} for split in range(count)]


def checked_rows(parts, name, rows):
    array = parts[name]
    if array is not None and (array.ndim == 0 or len(array) != rows):
        raise Refused(f"the {name} have the shape {array.shape}, expected {rows} rows")
    return None if array is None else array.reshape(rows, -1) if rows else array.reshape(0, 1)


def write_list(path, vertices):
    # Without a time in it, the same graph gives the same file.
    with open(path, "wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
        packed.write("".join(f"{vertex}\n" for vertex in vertices).encode())


def write(parts, folder, licence=""):
    """The folder, whole or not at all."""
    import numpy

    folder = pathlib.Path(folder)
    if folder.exists():
        raise Refused(f"{folder} is there already; name another folder, or remove it")
    edges = parts["edges"]
    if edges.ndim != 2 or edges.shape[0] != 2:
        raise Refused(f"edge_index has the shape {edges.shape}, expected two rows")
    splits = splits_of(parts["masks"], parts["vertices"])
    arrays = {
        "edge_index": edges,
        "num_nodes_list": numpy.array([parts["vertices"]]),
        "num_edges_list": numpy.array([edges.shape[1]]),
        "add_inverse_edge": numpy.array([0]),  # frameworks list both directions of an undirected edge
    }
    features = checked_rows(parts, "features", parts["vertices"])
    if features is not None:
        arrays["node_feat"] = features.astype(numpy.float32)
    weights = checked_rows(parts, "weights", edges.shape[1])
    if weights is not None:
        arrays["edge_feat"] = weights.astype(numpy.float32)
    labels = checked_rows(parts, "labels", parts["vertices"])

    making = folder.with_name(f".making-{folder.name}")
    shutil.rmtree(making, ignore_errors=True)
    (making / "raw").mkdir(parents=True)
    numpy.savez(making / "raw" / "data.npz", **arrays)
    if labels is not None:
        numpy.savez(making / "raw" / "node-label.npz", node_label=labels)
    for index, split in enumerate(splits):
        place = making / "split" / f"{index:04}"
        place.mkdir(parents=True)
        for name, vertices in split.items():
            write_list(place / f"{name}.csv.gz", vertices)
    if licence:
        (making / "LICENSE.txt").write_text(licence + "\n")
    making.rename(folder)
    return weights is not None


def export(graph, folder, licence=""):
    """Writes a PyG Data or a DGL graph; returns whether it has edge weights."""
    return write(from_dgl(graph) if hasattr(graph, "ndata") else from_pyg(graph), folder, licence)


def load_pyg(path, trusted):
    import pickle

    import torch

    try:
        import torch_geometric.data.data as pyg
        import torch_geometric.data.storage as storage

        known = [pyg.Data, pyg.DataEdgeAttr, pyg.DataTensorAttr, storage.GlobalStorage]
        with torch.serialization.safe_globals(known):
            loaded = torch.load(path, map_location="cpu", weights_only=True)
    except (AttributeError, ImportError, pickle.UnpicklingError) as refusal:
        if not trusted:
            raise Refused(
                f"{path} cannot be read without running code that it names ({refusal.__class__.__name__}); "
                "if you trust its author, add --trust"
            ) from refusal
        loaded = torch.load(path, map_location="cpu", weights_only=False)
    # A dataset's processed/data.pt is (data, slices, …).
    return loaded[0] if isinstance(loaded, tuple) else loaded


def load(path, framework, trusted):
    if framework == "pyg":
        return load_pyg(path, trusted)
    import dgl

    graphs, _ = dgl.load_graphs(str(path))
    if not graphs:
        raise Refused(f"{path} has no graph")
    return graphs[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path, help="what torch.save or dgl.save_graphs wrote")
    parser.add_argument("folder", type=pathlib.Path, help="to be written; must not exist")
    parser.add_argument(
        "--from", dest="framework", choices=["pyg", "dgl"], help="default: by the file's ending (.pt .pth, .bin .dgl)"
    )
    parser.add_argument("--licence", default="", help="the data's terms, in one line, for the dataset's manifest")
    parser.add_argument("--trust", action="store_true", help="run what a pickle names beyond PyG's own objects")
    arguments = parser.parse_args()
    framework = arguments.framework or FRAMEWORKS.get(arguments.file.suffix)
    if framework is None:
        parser.error(f"{arguments.file.name}: its ending does not say what it is; add --from pyg or --from dgl")
    if not arguments.file.is_file():
        parser.error(f"there is no file {arguments.file}")
    if importlib.util.find_spec(PACKAGES[framework]) is None:
        import frameworks

        frameworks.enter_environment(framework)
    try:
        weighted = export(load(arguments.file, framework, arguments.trust), arguments.folder, arguments.licence)
    except (Refused, OSError, EOFError) as refusal:
        sys.exit(f"export_graph.py: {refusal}")
    except ImportError as missing:
        sys.exit(
            f"export_graph.py: {missing}; experiments/baselines/setup.sh {framework} makes an environment that has it"
        )
    print(f"./dev dataset import {arguments.folder}{' --set weights=edge-feat' if weighted else ''}")


if __name__ == "__main__":
    main()
