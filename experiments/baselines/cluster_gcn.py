#!/usr/bin/env python3
"""Cluster-GCN by another framework: a program for `scheme: {command: …}` (docs/baselines.md).

usage: cluster_gcn.py FRAMEWORK [--loaders N] CLUSTERS JOB
       cluster_gcn.py FRAMEWORK [--loaders N] CLUSTERS --probe cpu|cuda

FRAMEWORK is pyg (PyTorch Geometric's ClusterData, ClusterLoader and SAGEConv) or dgl (DGL's ClusterGCNSampler, DataLoader
and SAGEConv). CLUSTERS has the cluster of each vertex, a line each, as `gnnbench partition --output FILE` writes them. A
batch is the subgraph of one cluster, and an epoch has each cluster once, in the clusters' order. With --loaders, as many
processes prepare batches while one trains. Uses the environment that setup.sh made for the framework.
"""

import pathlib
import pickle
import sys
import tempfile
import time

from frameworks import (
    activation_of,
    dropouts_of,
    features_of,
    initial_parameter,
    labels_and_loss,
    loss_or_null,
    make_optimizer,
    run,
    train_mask,
)


class Graph:
    """A store's edges: row v has what v aggregates from."""

    def __init__(self, store):
        import numpy as np

        indptr = np.load(store / "indptr.npy")
        self.n = len(indptr) - 1
        self.sources = np.load(store / "indices.npy").astype(np.int64)
        self.targets = np.repeat(np.arange(self.n), np.diff(indptr))


# Each framework makes batches, an iterable of (graph, x, labels, train mask), and SAGE layers with their parameters:
# h' = h W_self + mean of the neighbours' h · W_neighbour + b.


def pyg_batches(graph, x, y, train, clusters, loaders):
    import torch
    from torch_geometric.data import Data
    from torch_geometric.loader import ClusterData, ClusterLoader

    class Clusters(ClusterData):
        def _metis(self, edge_index, num_nodes):  # in place of PyG's own partition
            return torch.from_numpy(clusters)

    edges = torch.stack([torch.from_numpy(graph.sources), torch.from_numpy(graph.targets)])
    count = int(clusters.max()) + 1
    data = Clusters(Data(x=x, y=y, train_mask=train, edge_index=edges), count, log=False)
    loader = ClusterLoader(data, batch_size=1, shuffle=False, num_workers=loaders, persistent_workers=loaders > 0)
    return lambda: ((batch.edge_index, batch.x, batch.y, batch.train_mask) for batch in loader)


def pyg_layer(f, g, bias):
    from torch_geometric.nn import SAGEConv

    conv = SAGEConv(f, g, aggr="mean", bias=bias)
    return (lambda edges, h: conv(h, edges)), conv.lin_r.weight, conv.lin_l.weight, conv.lin_l.bias


def dgl_batches(graph, x, y, train, clusters, loaders):
    import dgl
    import numpy as np
    import torch

    g = dgl.graph((torch.from_numpy(graph.sources), torch.from_numpy(graph.targets)), num_nodes=graph.n)
    g.ndata.update({"x": x, "y": y, "train": train})
    count = int(clusters.max()) + 1
    offsets = np.concatenate([[0], np.cumsum(np.bincount(clusters, minlength=count))])
    members = np.argsort(clusters, kind="stable")
    with tempfile.NamedTemporaryFile(suffix=".pkl") as cache:  # in place of DGL's own partition
        pickle.dump((torch.from_numpy(offsets), torch.from_numpy(members)), cache)
        cache.flush()
        sampler = dgl.dataloading.ClusterGCNSampler(g, count, cache.name, prefetch_ndata=["x", "y", "train"])
    loader = dgl.dataloading.DataLoader(
        g, torch.arange(count), sampler, batch_size=1, shuffle=False, drop_last=False, num_workers=loaders
    )
    return lambda: ((batch, batch.ndata["x"], batch.ndata["y"], batch.ndata["train"]) for batch in loader)


def dgl_layer(f, g, bias):
    from dgl.nn import SAGEConv

    conv = SAGEConv(f, g, "mean", bias=bias)
    return conv, conv.fc_self.weight, conv.fc_neigh.weight, conv.fc_self.bias


BATCHES = {"pyg": pyg_batches, "dgl": dgl_batches}
LAYER = {"pyg": pyg_layer, "dgl": dgl_layer}


def make_layers(framework, job):
    """The layers, and ([weights], [biases]) of each, with the job's initial values."""
    widths, layers, parameters = job["model"]["widths"], [], []
    for l, (f, g) in enumerate(zip(widths, widths[1:])):
        layer, own, neighbour, bias = LAYER[framework](f, g, job["model"]["bias"])
        own.data = initial_parameter(job, f"W{l}_self", "cpu").T.contiguous()
        neighbour.data = initial_parameter(job, f"W{l}_neighbour", "cpu").T.contiguous()
        if bias is not None:
            bias.data = initial_parameter(job, f"b{l}", "cpu").reshape(-1)
        layers.append(layer)
        parameters.append(([own, neighbour], [] if bias is None else [bias]))
    return layers, parameters


def train(framework, clusters_file, loaders, job, lines):
    import numpy as np
    import torch
    import torch.nn.functional as F

    torch.set_num_threads(job["threads_per_rank"])
    torch.manual_seed(job["seed"])
    graph = Graph(pathlib.Path(job["dataset"]["store"]))
    clusters = np.loadtxt(clusters_file, dtype=np.int64)
    if len(clusters) != graph.n:
        sys.exit(f"{clusters_file} has the clusters of {len(clusters)} vertices; the graph has {graph.n}")
    labels, loss_of = labels_and_loss(job, "cpu")
    batches = BATCHES[framework](
        graph, features_of(job, "cpu"), labels, torch.from_numpy(train_mask(job)), clusters, loaders
    )
    del graph
    layers, parameters = make_layers(framework, job)
    optimizer = make_optimizer(job["train"], parameters)
    activation, dropouts = activation_of(job["model"]), dropouts_of(job["train"], len(layers))

    def forward(g, h):
        for l, layer in enumerate(layers):
            if dropouts[l] > 0:
                h = F.dropout(h, dropouts[l])
            h = layer(g, h)
            if l + 1 < len(layers):
                h = activation(h)
        return h

    for epoch in range(job["warmup"] + job["epochs"]):
        start = time.perf_counter()
        loss_sum = samples = 0
        for g, x, y, mask in batches():
            count = int(mask.sum())
            optimizer.zero_grad(set_to_none=True)
            logits = forward(g, x)
            loss = loss_of(logits[mask], y[mask]) if count > 0 else 0 * logits.sum()
            loss.backward()
            optimizer.step()
            loss_sum += loss.item() * count
            samples += count
        wall_s = time.perf_counter() - start
        lines.say({"epoch": epoch, "loss": loss_or_null(loss_sum / max(samples, 1)), "wall_s": wall_s})


def why_unsupported(job):
    if job["device"] != "cpu":
        return "trains on CPUs"
    if job["model"]["layers"] != "sage":
        return "trains GraphSAGE layers"
    if (pathlib.Path(job["dataset"]["store"]) / "weights.npy").exists():
        return "trains on graphs without weights"
    return None


def main():
    words, loaders = sys.argv[1:], 0
    if "--loaders" in words:
        at = words.index("--loaders")
        if not words[at + 1 : at + 2] or not words[at + 1].isdigit():
            sys.exit(__doc__)
        loaders = int(words[at + 1])
        del words[at : at + 2]
    probes = len(words) == 4 and words[2] == "--probe"
    if not (probes or len(words) == 3) or words[0] not in BATCHES:
        sys.exit(__doc__)
    run(
        words[0],
        None if probes else words[2],
        words[3] if probes else None,
        why_unsupported,
        lambda job, lines: train(words[0], words[1], loaders, job, lines),
    )


main()
