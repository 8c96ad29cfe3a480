#!/usr/bin/env python3
"""Full-batch GCN, GraphSAGE and GAT by another framework: a program for `scheme: {command: …}` (docs/baselines.md).

usage: full_batch.py FRAMEWORK [--compile] JOB
       full_batch.py FRAMEWORK [--compile] --probe cpu|cuda

FRAMEWORK is torch.sparse (PyTorch's CSR × dense, called directly; not GAT), pyg (PyTorch Geometric's GCNConv and SAGEConv on
a CSR matrix, its GATConv on a list of edges) or dgl (DGL's GraphConv, SAGEConv and GATConv); --compile trains through
torch.compile. Uses the environment that setup.sh made for the framework, where there is one, else the Python that it is
started with.
"""

import json
import pathlib
import sys
import time
import warnings

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

# --- what is trained ------------------------------------------------------------------------------------------------


class Adjacency:
    """Â in compressed rows, on the host: row v has what v aggregates from."""

    def __init__(self, store, model):
        import numpy as np

        indptr, indices = np.load(store / "indptr.npy"), np.load(store / "indices.npy")
        weighted = (store / "weights.npy").exists()
        weights = np.load(store / "weights.npy") if weighted else np.ones(len(indices), np.float32)
        n = len(indptr) - 1
        rows = np.repeat(np.arange(n, dtype=np.int32), np.diff(indptr))
        if model["self_loops"]:
            lacks = np.ones(n, dtype=bool)
            lacks[rows[rows == indices]] = False
            before = np.concatenate([[0], np.cumsum(lacks)])  # loops added in earlier rows
            at = np.arange(len(indices)) + before[rows]
            indptr = indptr + before
            loops = indptr[1:][lacks] - 1  # last in their rows
            vertices = np.nonzero(lacks)[0]

            def widened(old, new):
                wide = np.empty(indptr[-1], old.dtype)
                wide[at], wide[loops] = old, new
                return wide

            rows, indices, weights = widened(rows, vertices), widened(indices, vertices), widened(weights, 1)
        self.n, self.indptr, self.rows, self.indices = n, indptr, rows, indices
        row_sum = np.bincount(rows, weights, n)
        column_sum = np.bincount(indices, weights, n)
        kind = model["normalisation"]
        # What DGL calls an Â that follows from degrees alone: it need not read a weight for each edge.
        self.by_degrees = None if weighted else {"symmetric": "both", "mean": "right", "none": "none"}[kind]
        self.symmetric = json.loads((store / "manifest.json").read_text())["symmetric_pattern"]
        self.symmetric = self.symmetric and not weighted and kind != "mean"
        with np.errstate(divide="ignore"):
            if kind == "symmetric":
                r, c = (np.where(s > 0, s**-0.5, 0) for s in (row_sum, column_sum))
                weights = weights * r[rows] * c[indices]
            elif kind == "mean":
                weights = weights * np.where(row_sum > 0, 1 / row_sum, 0)[rows]
        self.values = weights


class Data:
    """Features, labels and the train vertices, on the device."""

    def __init__(self, job, device):
        import numpy as np
        import torch

        self.dtype = getattr(torch, job["precision"])
        self.x = features_of(job, device)
        self.labels, self.loss = labels_and_loss(job, device)
        self.train = torch.from_numpy(np.nonzero(train_mask(job))[0]).to(device)
        self.adjacency = Adjacency(pathlib.Path(job["dataset"]["store"]), job["model"])


def csr_tensor(adjacency, data, device):
    """32-bit indices are what MKL and cuSPARSE take without a copy."""
    import torch

    warnings.filterwarnings("ignore", message="Sparse")  # beta state, unchecked invariants
    indptr = torch.from_numpy(adjacency.indptr)
    if len(adjacency.indices) < 2**31:
        indptr = indptr.to(torch.int32)
    columns = torch.from_numpy(adjacency.indices).to(indptr.dtype)
    values = torch.from_numpy(adjacency.values).to(data.dtype)
    return torch.sparse_csr_tensor(indptr, columns, values, (adjacency.n, adjacency.n)).to(device)


# --- frameworks -----------------------------------------------------------------------------------------------------
# Each makes the layers, functions of H [n × f], from the weights and bias of each: Â H W + b [n × g] of [W] in GCN,
# H W_self + Â H W_neighbour + b of [W_self, W_neighbour] in GraphSAGE, attention's [n × g] of [W, a_row, a_neighbour] in GAT.


def torch_sparse_layers(data, model, parameters, device):
    import torch

    a = csr_tensor(data.adjacency, data, device)
    if data.adjacency.symmetric:
        at = a
    else:
        columns = a.to_sparse_csc()  # the compressed columns of Â are the compressed rows of Âᵀ
        at = torch.sparse_csr_tensor(columns.ccol_indices(), columns.row_indices(), columns.values(), a.shape)

    class Aggregate(torch.autograd.Function):
        """Â H, and Âᵀ G backward: PyTorch's own derivative would transpose Â in every epoch."""

        @staticmethod
        def forward(ctx, h):
            return timed("spmm", lambda: a @ h)

        @staticmethod
        def backward(ctx, g):
            return timed("spmm", lambda: at @ g)

    def layer(weights, bias, aggregates):
        *own, weight = weights

        def apply(x):
            if not aggregates:  # [X, ÂX] with self weights, else ÂX
                h = x @ torch.cat([*own, weight])
                return h if bias is None else h + bias
            if weight.shape[0] > weight.shape[1]:
                h = Aggregate.apply(x @ weight)
            else:
                h = Aggregate.apply(x) @ weight
            for w in own:
                h = h + x @ w
            return h if bias is None else h + bias

        return apply

    once = model["aggregate_input"]
    if once:
        aggregate = a @ data.x
        data.x = torch.cat([data.x, aggregate], dim=1) if model["layers"] == "sage" else aggregate
    return [layer(weights, bias, l > 0 or not once) for l, (weights, bias) in enumerate(parameters)]


def heads_of(model, layer):
    heads = model.get("heads", 1)
    return heads if isinstance(heads, int) else heads[layer]


def means(model, layer):
    """Whether the layer's output is its heads' mean, not their columns."""
    return layer + 2 == len(model["widths"]) or model.get("combine", "concat") == "mean"


def gat_layers(model, parameters, make):
    """Layers of convolutions that `make` makes: make(f, d, heads, mean) is a module without bias and its parameters in the
    order of ours: weights [heads · d × f], then vectors [1 × heads × d]. Ours interleave heads, column k · heads + h; theirs
    have head after head, as have the inputs of the layer after one that concatenates."""
    import torch

    def head_after_head(columns, heads):
        return columns.unflatten(-1, (-1, heads)).transpose(-1, -2).flatten(-2)

    layers, before = [], 1  # heads beside each other in the layer's input
    for l, (weights, bias) in enumerate(parameters):
        heads, mean = heads_of(model, l), means(model, l)
        ordered = [head_after_head(w.detach(), heads) for w in weights]
        ordered = [w if w.shape[0] == 1 else head_after_head(w.T, before) for w in ordered]
        f, d = ordered[0].shape[1], ordered[0].shape[0] // heads
        conv, own = make(f, d, heads, mean)
        for theirs, w in zip(own, ordered, strict=True):
            theirs.data = w.reshape(theirs.shape).contiguous()
        if bias is not None and not mean:
            bias = torch.nn.Parameter(head_after_head(bias.detach(), heads).contiguous())
        parameters[l] = (own, bias)
        layers.append(lambda h, conv=conv, bias=bias: conv(h) if bias is None else conv(h) + bias)
        before = 1 if mean else heads
    return layers


def pyg_gat_layers(data, model, parameters, device):
    import numpy as np
    import torch
    from torch_geometric.nn import GATConv, GATv2Conv

    a = data.adjacency
    edges = torch.from_numpy(np.stack([a.indices, a.rows]).astype(np.int64)).to(device)

    options = {"negative_slope": model.get("negative_slope", 0.2), "dropout": model.get("attention_dropout", 0.0),
               "add_self_loops": False, "bias": False}

    def make(f, d, heads, mean):
        if model["layers"] == "gat":
            conv = GATConv(f, d, heads, concat=not mean, **options).to(device, data.dtype)
            return lambda h: conv(h, edges), [conv.lin.weight, conv.att_dst, conv.att_src]
        shared = model.get("share_weights", False)
        conv = GATv2Conv(f, d, heads, concat=not mean, share_weights=shared, **options).to(device, data.dtype)
        rows = [] if shared else [conv.lin_r.weight]
        return lambda h: conv(h, edges), [*rows, conv.lin_l.weight, conv.att]

    return gat_layers(model, parameters, make)


def pyg_layers(data, model, parameters, device):
    import torch
    from torch_geometric.nn import GCNConv, SAGEConv

    if model["layers"] in ("gat", "gatv2"):
        return pyg_gat_layers(data, model, parameters, device)

    a = csr_tensor(data.adjacency, data, device)

    def transposed(weight):
        return torch.nn.Parameter(weight.detach().T.contiguous())

    layers = []
    for l, (weights, bias) in enumerate(parameters):
        shape = weights[0].shape
        if model["layers"] == "sage":
            # Â has the means' divisors, so that what is aggregated is a sum.
            conv = SAGEConv(*shape, aggr="sum", bias=bias is not None)
            conv.lin_r.weight, conv.lin_l.weight = (transposed(w) for w in weights)
            conv.lin_l.bias = bias
            parameters[l] = ([conv.lin_r.weight, conv.lin_l.weight], bias)
        else:
            conv = GCNConv(*shape, normalize=False, add_self_loops=False, bias=bias is not None)
            conv.lin.weight = transposed(weights[0])
            conv.bias = bias
            parameters[l] = ([conv.lin.weight], bias)
        layers.append(conv)
    return [lambda h, conv=conv: conv(h, a) for conv in layers]


def dgl_gat_layers(graph, data, model, parameters, device):
    import dgl

    options = {"attn_drop": model.get("attention_dropout", 0.0), "negative_slope": model.get("negative_slope", 0.2),
               "bias": False, "allow_zero_in_degree": True}

    def make(f, d, heads, mean):
        if model["layers"] == "gat":
            conv = dgl.nn.GATConv(f, d, heads, **options).to(device, data.dtype)
            own = [conv.fc.weight, conv.attn_r, conv.attn_l]
        else:
            shared = model.get("share_weights", False)
            conv = dgl.nn.GATv2Conv(f, d, heads, share_weights=shared, **options).to(device, data.dtype)
            own = [*([] if shared else [conv.fc_dst.weight]), conv.fc_src.weight, conv.attn]
        combined = (lambda h: conv(graph, h).mean(1)) if mean else (lambda h: conv(graph, h).flatten(1))
        return combined, own

    return gat_layers(model, parameters, make)


def dgl_layers(data, model, parameters, device):
    import dgl
    import torch

    a = data.adjacency
    # From 64-bit coordinates: graphs of 32-bit compressed columns crash in DGL 2.1.
    ends = (torch.from_numpy(a.indices).to(torch.int64), torch.from_numpy(a.rows).to(torch.int64))
    attends = model["layers"] in ("gat", "gatv2")
    forms = ["csr", "csc"] + (["coo"] if attends else [])  # which its scores of edges are computed on
    graph = dgl.graph(ends, num_nodes=a.n).formats(forms)
    graph.create_formats_()
    graph = graph.to(device)
    if attends:
        return dgl_gat_layers(graph, data, model, parameters, device)
    sage = model["layers"] == "sage"
    norm = a.by_degrees or "none"
    edge_weights = None if a.by_degrees else torch.from_numpy(a.values).to(device, data.dtype)
    layers = []
    for l, (weights, bias) in enumerate(parameters):
        shape = weights[0].shape
        if sage:
            conv = dgl.nn.SAGEConv(*shape, "mean", bias=bias is not None)
            own, neighbour = (torch.nn.Parameter(w.detach().T.contiguous()) for w in weights)
            conv.fc_self.weight, conv.fc_neigh.weight, conv.fc_self.bias = own, neighbour, bias
            parameters[l] = ([own, neighbour], bias)
        else:
            conv = dgl.nn.GraphConv(*shape, norm=norm, bias=bias is not None, allow_zero_in_degree=True)
            conv.weight = weights[0]
            conv.bias = bias
        layers.append(conv)
    if sage:
        return [lambda h, conv=conv: conv(graph, h) for conv in layers]
    return [lambda h, conv=conv: conv(graph, h, edge_weight=edge_weights) for conv in layers]


LAYERS = {"torch.sparse": torch_sparse_layers, "pyg": pyg_layers, "dgl": dgl_layers}

# --- training -------------------------------------------------------------------------------------------------------

phases = {}


def timed(phase, work):
    start = time.perf_counter()
    result = work()
    phases[phase] = phases.get(phase, 0.0) + time.perf_counter() - start
    return result


def read_parameters(job, device):
    """[([W …], b) of each layer]; b is None where the model has none."""
    import torch

    def parameter(name):
        return torch.nn.Parameter(initial_parameter(job, name, device))

    def bias(name):
        return torch.nn.Parameter(initial_parameter(job, name, device).reshape(-1)) if job["model"]["bias"] else None

    names = {"gcn": ["W{}"], "sage": ["W{}_self", "W{}_neighbour"], "gat": ["W{}", "a{}_row", "a{}_neighbour"]}
    names["gatv2"] = ["W{}", "a{}"] if job["model"].get("share_weights") else ["W{}_row", "W{}_neighbour", "a{}"]
    kinds = names[job["model"]["layers"]]
    layers = range(len(job["model"]["widths"]) - 1)
    return [([parameter(name.format(l)) for name in kinds], bias(f"b{l}")) for l in layers]


def train(framework, compiles, job, lines):
    import torch
    import torch.nn.functional as F

    device, model = job["device"], job["model"]
    torch.set_num_threads(job["threads_per_rank"])
    torch.manual_seed(job["seed"])
    data = Data(job, device)
    parameters = read_parameters(job, device)
    layers = LAYERS[framework](data, model, parameters, device)
    data.adjacency = None
    optimizer = make_optimizer(job["train"], [(w, [] if b is None else [b]) for w, b in parameters])
    activation, dropouts = activation_of(model), dropouts_of(job["train"], len(layers))

    def forward(h):
        for l, layer in enumerate(layers):
            if dropouts[l] > 0:
                h = F.dropout(h, dropouts[l])
            h = layer(h)
            if l + 1 < len(layers):
                h = activation(h)
        return h

    if compiles:
        forward = torch.compile(forward)
    wait = torch.cuda.synchronize if device == "cuda" else (lambda: None)
    labels = data.labels[data.train]
    for epoch in range(job["warmup"] + job["epochs"]):
        phases.clear()
        wait()
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        loss = data.loss(forward(data.x)[data.train], labels)
        loss.backward()
        optimizer.step()
        wait()
        line = {"epoch": epoch, "loss": loss_or_null(loss.item()), "wall_s": time.perf_counter() - start}
        if device == "cuda":
            line["peak_memory_bytes"] = torch.cuda.max_memory_allocated()
        elif phases and not compiles:
            line["phases"] = {**phases, "other": max(0.0, line["wall_s"] - sum(phases.values()))}
        lines.say(line)


def why_unsupported(framework, job):
    model = job["model"]
    sage, gat = model["layers"] == "sage", model["layers"] in ("gat", "gatv2")
    weighted = (pathlib.Path(job["dataset"]["store"]) / "weights.npy").exists()
    if model["layers"] not in ("gcn", "sage", "gat", "gatv2"):
        return "trains GCN, GraphSAGE, GAT and GATv2 layers"
    if gat and framework == "torch.sparse":
        return "PyTorch has no attention over sparse matrices"
    if gat and model.get("residual", False):
        return "its GAT has no residuals"
    if gat and weighted:
        return "its attention has no edge weights; this graph has weights"
    if model["aggregate_input"] and framework != "torch.sparse":
        return "does not aggregate its input at set-up"
    if sage and framework == "dgl" and weighted:
        return "DGL's SAGEConv takes the mean of neighbours without weights; this graph has weights"
    return None


def main():
    words = [word for word in sys.argv[1:] if word != "--compile"]
    probes = len(words) == 3 and words[1] == "--probe"
    if not (probes or len(words) == 2) or words[0] not in LAYERS:
        sys.exit(__doc__)
    framework, compiles = words[0], "--compile" in sys.argv
    run(
        framework,
        None if probes else words[1],
        words[2] if probes else None,
        lambda job: why_unsupported(framework, job),
        lambda job, lines: train(framework, compiles, job, lines),
    )


main()
