#!/usr/bin/env python3
"""Writes cases.json: what schemes that compute with old rows make of small graph neural networks, in float64.

    python3 -m venv VENV && VENV/bin/pip install 'torch==2.2.1' 'numpy<2'
    VENV/bin/python tests/contract/staleness/make.py

As ../autograd/make.py, whose graphs and models these are: Â is a dense matrix, derivatives are autograd's. All parts are
computed at once: D has Â's entries inside of parts, O those between parts, and Â = D + O. What a scheme does differently
from exact training is what O is multiplied by, and what O's transpose returns. Under a vertex cut a row is a part's copy of
a vertex: D has each part's entries between its copies, and O is not there; what differs is how copies are summed.
"""
import random

import torch

from common import EPOCHS, cut_vertices, exact, note_gradients, start, write
from schemes import PARTS, SCHEMES, DistGnn, Sancus, StaleProduct

exact.draw = draw = random.Random(37)
GRADIENTS = 3  # of the last epochs


def forward(case, aggregate, x, weights, biases):
    """As the autograd oracle's. `aggregate(l, h, w)` is Â H W as the scheme computes it."""
    kind, h, layers = case["layers"], x, len(case["widths"]) - 1
    plus = lambda z, i: z + biases[i] if biases else z
    for l in range(layers):
        if kind == "gcn":
            h = plus(aggregate(l, h, weights[l]), l)
        elif kind == "sage":
            h = plus(h @ weights[2 * l] + aggregate(l, h, weights[2 * l + 1]), l)
        else:
            h = plus(aggregate(l, h, weights[2 * l]), 2 * l)
            h = plus(torch.relu(exact.no_kink(h, "relu")) @ weights[2 * l + 1], 2 * l + 1)
        if l + 1 < layers:
            h = exact.ACTIVATIONS[case["activation"]](exact.no_kink(h, case["activation"]))
    return h


def train(g, case):
    a = exact.adjacency(g, case["normalisation"], case["self_loops"])
    part = torch.tensor(case["part_of"])
    same = part[:, None] == part[None, :]
    if case["layers"] == "gin":  # (1 + ε) H is part of the product
        a = a + (1 + case["epsilon"]) * torch.eye(len(a))
    inside, between = torch.where(same, a, 0.0), torch.where(same, 0.0, a)
    x = torch.tensor(g["features"])[:, : case["widths"][0]].clone()
    labels, mask = torch.tensor(g["labels"]), torch.tensor(g["train"], dtype=torch.bool)
    weights, biases = exact.initial(case["widths"], case["bias"], case["layers"])
    step = start(case, weights, biases)
    scheme = SCHEMES[case["scheme"]](case["params"])
    scheme.part, scheme.layers = part, len(case["widths"]) - 1
    rows = torch.arange(len(a))
    if isinstance(scheme, DistGnn):
        if scheme.known:
            a = exact.adjacency(g, "none", case["self_loops"])
        inside = scheme.lay_out(g, a, case)
        x, rows = x[scheme.vertex], scheme.roots

    def aggregate(l, h, w):
        t = scheme.aggregate(inside, between, l, h)
        return StaleProduct.apply(h, w, t, a) if isinstance(scheme, Sancus) else t @ w

    case["loss"], case["gradients"], case["ages"] = [], [], []
    for epoch in range(case["epochs"]):
        step.zero_grad()
        scheme.begin_epoch()
        logits = forward(case, aggregate, x, weights, biases)[rows]
        loss = torch.nn.functional.cross_entropy(logits[mask], labels[mask])
        loss.backward()
        scheme.end_epoch(between)
        case["loss"].append(loss.item())
        case["ages"].append(scheme.ages(between))
        if epoch + GRADIENTS >= case["epochs"]:
            note_gradients(case, weights, biases)
        step.step()
    case["final"] = {"weights": exact.numbers(weights), "biases": exact.numbers(biases)}
    return case


def settings():
    """Schemes with their parameters."""
    for smoothing in ("none", "features", "gradients", "both"):
        yield "pipegcn", {"staleness": 1, "smoothing": smoothing, "decay": 0.95 if smoothing != "both" else 0.3}
    yield "pipegcn", {"staleness": 0, "smoothing": "none", "decay": 0.95}
    default = {"policy": "interval", "interval": 2, "least_change": 0.05, "most_epochs": 10, "cache_input": True,
               "own_rows": "fresh"}
    for changed in ({}, {"interval": 1, "cache_input": False}, {"interval": 3, "own_rows": "cached"},
                    {"policy": "change", "least_change": 0.015}, {"policy": "change", "least_change": 1e9, "most_epochs": 2},
                    {"policy": "change", "least_change": 0.03, "own_rows": "cached", "cache_input": False},
                    {"policy": "released", "epochs": 55}):
        yield "sancus", default | changed
    for degrees in ({}, {"degrees": "known"}):
        for algorithm, delay, backward, epochs in (("cd-0", 5, "summed", 5), ("cd-0", 5, "local", 5), ("0c", 5, "summed", 5),
                                                   ("cd-r", 1, "summed", 5), ("cd-r", 2, "summed", 8),
                                                   ("cd-r", 2, "local", 8)):
            yield "distgnn", {"algorithm": algorithm, "delay": delay, "backward": backward, "epochs": epochs} | degrees
    for degrees in ("whole", "known"):
        for algorithm, delay, backward, epochs in (("cd-0", 5, "summed", 5), ("cd-0", 5, "local", 5), ("0c", 5, "local", 5),
                                                   ("cd-r", 2, "summed", 8), ("cd-r", 2, "local", 8)):
            yield "distgnn", {"algorithm": algorithm, "delay": delay, "backward": backward, "epochs": epochs,
                              "degrees": degrees, "self_loops": "copies"}


def cases(graphs):
    models = [{"layers": "gcn", "widths": [5, 4, 6, 3], "activation": "sigmoid", "bias": True,
               "normalisation": "symmetric", "self_loops": True, "epsilon": 0.0},
              {"layers": "gcn", "widths": [4, 6, 3], "activation": "relu", "bias": False, "normalisation": "mean",
               "self_loops": False, "epsilon": 0.0},
              {"layers": "sage", "widths": [4, 5, 3], "activation": "leaky_relu", "bias": True,
               "normalisation": "mean", "self_loops": False, "epsilon": 0.0},
              {"layers": "gin", "widths": [3, 4, 3], "activation": "relu", "bias": True, "normalisation": "none",
               "self_loops": False, "epsilon": 0.25}]
    for scheme, params in settings():
        for i, model in enumerate(models):
            if params.get("degrees") == "known":  # a matter of rows that are divided by theirs, with self-loops and without
                if model["normalisation"] == "none":
                    continue
                model = model | {"normalisation": "mean"}
            yield {"scheme": scheme, "params": {k: v for k, v in params.items() if k != "epochs"},
                   "epochs": params.get("epochs", EPOCHS), "graph": i % len(graphs), **model,
                   "optimizer": "sgd", "weight_decay": [0.0] * (len(model["widths"]) - 1), "trained_features": False}


def mistaken(scheme, params):
    """Parameters with a mistake in what is old, each of which the test has to find."""
    if scheme == "pipegcn" and params["staleness"] == 1:
        yield params | {"staleness": 0}
        if params["smoothing"] != "none":
            yield params | {"smoothing": "none"}
    if scheme == "sancus" and params["policy"] == "interval" and params["interval"] > 1:
        yield params | {"interval": params["interval"] + 1}
        yield params | {"own_rows": "cached" if params["own_rows"] == "fresh" else "fresh"}
    if scheme == "distgnn":
        if params["algorithm"] == "cd-r":
            yield params | {"delay": params["delay"] + 1}
        if params["algorithm"] != "0c":
            yield params | {"algorithm": "0c"}
            yield params | {"backward": "local" if params["backward"] == "summed" else "summed"}
        if params.get("degrees") == "known" and params["algorithm"] != "cd-0":
            yield params | {"degrees": "whole"}


def sensitive(graphs, case):
    """The case trained, drawn again until every mistake shows in its losses: parts may share no edge, ReLUs may be dead."""
    g = graphs[case["graph"]]
    for _ in range(100):
        case["part_of"] = [draw.randrange(PARTS) for _ in range(g["vertices"])]
        if case["scheme"] == "distgnn":
            cut_vertices(g, case, draw)
        made = train(g, dict(case))
        wrong = [train(g, case | {"params": p, "initial": made["initial"]})["loss"]
                 for p in mistaken(case["scheme"], case["params"])]
        if all(max(abs(a - b) for a, b in zip(made["loss"], w)) > 1e-6 for w in wrong):
            return made
    raise AssertionError(f"no sensitive case: {case}")


def main():
    graphs = exact.graphs()
    tables = {"graphs": graphs, "cases": [sensitive(graphs, c) for c in cases(graphs)]}
    by_change = [age for c in tables["cases"] if c["params"].get("policy") == "change" for ages in c["ages"][1:] for age in ages]
    assert len({age["sum_epochs"] for age in by_change if age["sum_epochs"] < age["rows"]}) > 2  # some send, some do not
    write("cases.json", tables)


if __name__ == "__main__":
    main()
