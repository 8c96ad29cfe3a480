"""Epoch times of full-batch GCN training in PyTorch Geometric, on a dataset store of gnnbench.

usage: pyg_epoch.py STORE [--device cuda] [--epochs 20] [--warmup 3]

The same models, loss and optimizer as experiments/gpu/epoch.yaml, each in PyG's full-batch paths: torch.sparse CSR with and
without torch.compile, and torch_sparse's SparseTensor where that package is installed. Prints one line for each: the median of
the epochs' seconds between device synchronisations.
"""

import argparse
import json
import pathlib
import statistics
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch_geometric.nn import GCNConv
from torch_geometric.nn.conv.gcn_conv import gcn_norm

MODELS = {"mg-gcn": [512], "plexus": [128, 128]}
TRAIN = 1  # of gnnbench's splits: none 0, train 1, validation 2, test 3


class Gcn(torch.nn.Module):
    """Layers of Â H W + b with relu between them; Â comes normalised."""

    def __init__(self, widths):
        super().__init__()
        self.layers = torch.nn.ModuleList(
            GCNConv(a, b, normalize=False, add_self_loops=False) for a, b in zip(widths, widths[1:])
        )

    def forward(self, x, adjacency):
        for layer in self.layers[:-1]:
            x = F.relu(layer(x, adjacency))
        return self.layers[-1](x, adjacency)


def load(store, device):
    arrays = {p.stem: np.load(p, mmap_mode="r") for p in pathlib.Path(store).glob("*.npy")}
    manifest = json.loads((pathlib.Path(store) / "manifest.json").read_text())
    indptr = torch.from_numpy(np.array(arrays["indptr"], dtype=np.int64))
    rows = torch.repeat_interleave(torch.arange(len(indptr) - 1), indptr.diff())
    columns = torch.from_numpy(np.array(arrays["indices"], dtype=np.int64))
    x = torch.from_numpy(np.array(arrays["features"], dtype=np.float32)).to(device)
    labels = torch.from_numpy(np.array(arrays["labels"], dtype=np.int64)).to(device)
    masks = np.array(arrays["masks"])
    masks = masks if masks.ndim == 1 else masks[0]
    train = torch.from_numpy(masks == TRAIN).to(device)
    return manifest, rows, columns, x, labels, train


def adjacencies(rows, columns, n, device):
    """Â by name: what PyG calls its fastest full-batch inputs."""
    index, weight = gcn_norm(torch.stack([columns, rows]), num_nodes=n, add_self_loops=True, dtype=torch.float32)
    coo = torch.sparse_coo_tensor(index.flip(0), weight, (n, n)).coalesce()
    yield "csr", coo.to_sparse_csr().to(device)
    try:
        from torch_sparse import SparseTensor
    except ImportError:
        return
    yield "SparseTensor", SparseTensor(row=index[1], col=index[0], value=weight, sparse_sizes=(n, n)).to(device)


def epoch_seconds(model, x, adjacency, labels, train, epochs, warmup):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    wait = torch.cuda.synchronize if x.is_cuda else (lambda: None)
    seconds = []
    for epoch in range(warmup + epochs):
        wait()
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(model(x, adjacency)[train], labels[train])
        loss.backward()
        optimizer.step()
        wait()
        if epoch >= warmup:
            seconds.append(time.perf_counter() - start)
    return statistics.median(seconds), loss.item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--warmup", type=int, default=3)
    args = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False  # as gnnbench by default
    manifest, rows, columns, x, labels, train = load(args.store, args.device)
    classes = int(labels.max()) + 1
    print(f"{manifest.get('name', args.store)}: {len(x)} vertices, {len(columns)} edges, torch {torch.__version__}")
    for adjacency_name, adjacency in adjacencies(rows, columns, len(x), args.device):
        for model_name, hidden in MODELS.items():
            for compiled in (False, True):
                torch.manual_seed(0)
                model = Gcn([x.shape[1], *hidden, classes]).to(args.device)
                what = f"{model_name}, {adjacency_name}{', compiled' if compiled else ''}"
                try:
                    used = torch.compile(model) if compiled else model
                    seconds, loss = epoch_seconds(used, x, adjacency, labels, train, args.epochs, args.warmup)
                    print(f"  {what}: {seconds * 1e3:.2f} ms, loss {loss:.4f}")
                except (RuntimeError, NotImplementedError, torch.cuda.OutOfMemoryError) as error:
                    print(f"  {what}: failed: {str(error).splitlines()[0]}")


if __name__ == "__main__":
    main()
