#!/usr/bin/env python3
"""Writes attention.json: what schemes that attend to old rows make of small graph attention networks, in float64.

    VENV/bin/python tests/contract/staleness/attention.py        (the environment of make.py)

Layers as ../attention/make.py has them: dense matrices, exponentials where there is an edge. All parts are computed at once.
An entry has its own vertex as it is, and the other's row as the scheme has it, inside of a part and between parts: rows
are [h, r] per head, h = H W and r = <a_r, h>, of GATv2 t = H W.

PipeGCN: rows of the epoch before are leaves of autograd, whose gradients their owners add to those of the next epoch. A
score that travelled passes its gradient on to the h beside it, and to a_r. SANCUS: rows as last sent, whose gradients count
as those of the rows that their owners have now. DistGNN, 0c: under a vertex cut each part's copies attend to one another over
the part's entries, and the loss is of the roots.
"""
import importlib.util
import random

import torch

from common import EPOCHS, cut_vertices, here, note_gradients, start, write
from schemes import PARTS, DistGnn, PipeGcn, Sancus

spec = importlib.util.spec_from_file_location("attention_make", here.parent / "attention" / "make.py")
attention = importlib.util.module_from_spec(spec)
spec.loader.exec_module(attention)
autograd = attention.autograd
attention.draw = draw = random.Random(53)

GRADIENTS = 2  # of the last epochs


def passing_to(rows, now):
    """Rows with these values, whose gradients are those of others."""
    return rows + (now - now.detach())


class Pipe(PipeGcn):
    """begin_epoch, decay and averages as there; here of rows that are attended to."""

    def rows(self, layer, now, vector):
        """Rows [w + H] of a layer as their owners and as the others have them, from `now`, h of the owners."""
        if not self.stale:
            own = joined(now, vector)
            return own, own
        returned = self.taken("gradients", layer, now.detach())
        own = now.clone()
        own.register_hook(lambda g: g + returned)
        whole = joined(now, vector).detach()
        old = self.taken("features", layer, whole).clone()
        self.arrived["features", layer] = whole
        leaf = old[:, : now.shape[1]].clone().requires_grad_()
        self.returns.append((layer, leaf))
        if vector is None:
            return joined(own, vector), leaf
        scores = passing_to(old[:, now.shape[1]:], dots(leaf, vector))
        return joined(own, vector), torch.cat([leaf, scores], 1)

    def end_epoch(self, between):
        for layer, leaf in self.returns:
            self.arrived["gradients", layer] = leaf.grad
        self.epoch += 1

    def ages(self, between):
        """As there, but that layer 0's rows have gradients, too."""
        features = [age for age in super().ages(between) if age["kind"] == "features"]
        return features + [age | {"kind": "gradients"} for age in features]


class Cached(Sancus):
    """Its policies, for layers counted from 1: a first layer's input stays the same, what it attends to does not."""

    def rows(self, layer, now, vector):
        layer, whole = layer + 1, joined(now, vector)
        if layer not in self.sent:
            self.sent[layer] = torch.zeros_like(whole.detach())
        sent = self.sent[layer].clone()
        for part in range(PARTS):
            here = self.part == part
            if self.sends(layer, part, whole.detach()):
                sent[here] = whole.detach()[here]
                self.age[layer, part] = 0
            else:
                self.age[layer, part] += 1
        self.sent[layer] = sent
        others = passing_to(sent, whole)
        return (others if self.params["own_rows"] == "cached" else whole), others

    def ages(self, between):
        self.layers += 1
        ages = [age | {"layer": age["layer"] - 1} for age in super().ages(between)]
        self.layers -= 1
        return ages

    def end_epoch(self, between):
        pass


class Copies(DistGnn):
    """Copies as lay_out has them, which nothing joins: each is a vertex of its own."""

    def rows(self, layer, now, vector):
        whole = joined(now, vector)
        return whole, whole


def dots(h, vector):
    """<vector, h> of each head; column k · heads + head is column k of a head."""
    values, heads = vector
    return (h * values).reshape(len(h), -1, heads).sum(1)


def joined(h, vector):
    return h if vector is None else torch.cat([h, dots(h, vector)], 1)


def layer(a, same, x, p, shape, case, scheme, number):
    _, _, heads, d, mean = shape
    w = heads * d
    h = x @ p["W"]
    dynamic = "a" in p
    own, others = scheme.rows(number, h, None if dynamic else (p["neighbour"], heads))
    outputs = []
    for head in range(heads):
        columns = [k * heads + head for k in range(d)]
        if dynamic:
            s = (x @ p["W_row"] if "W_row" in p else h)[:, columns]
            of = [attention.leaky(a, s[:, None, :] + rows[:, columns][None, :, :], case["negative_slope"]) @ p["a"][0, columns]
                  for rows in (own, others)]
        else:
            left = dots(h, (p["row"], heads))[:, head]
            of = [attention.leaky(a, left[:, None] + rows[:, w + head][None, :], case["negative_slope"])
                  for rows in (own, others)]
        weights = a * torch.exp(torch.where(same, *of))
        total = weights.sum(1, keepdim=True)
        alpha = torch.where(total > 0, weights / torch.where(total > 0, total, torch.ones_like(total)), 0.0)
        outputs.append(torch.where(same, alpha, 0.0) @ own[:, columns] + torch.where(same, 0.0, alpha) @ others[:, columns])
    stacked = torch.stack(outputs, 2)
    z = stacked.mean(2) if mean else stacked.reshape(len(x), w)
    return z + p["bias"] if "bias" in p else z


def train(g, case):
    a = autograd.adjacency(g, "none", case["self_loops"])
    part = torch.tensor(case["part_of"])
    same = part[:, None] == part[None, :]
    between = torch.where(same, 0.0, a)
    x = torch.tensor(g["features"])[:, : case["widths"][0]].clone()
    scheme = {"pipegcn": Pipe, "sancus": Cached, "distgnn": Copies}[case["scheme"]](case["params"])
    roots = torch.arange(len(x))
    if case["scheme"] == "distgnn" and case["params"]["algorithm"] == "0c":
        a = scheme.lay_out(g, a, case)
        x, roots, same = x[scheme.vertex], scheme.roots, torch.ones(a.shape, dtype=torch.bool)
    labels, mask = torch.tensor(g["labels"]), torch.tensor(g["train"], dtype=torch.bool)
    shapes = list(attention.layers_of(case))
    drawn = []
    for f, g_l, heads, d, _ in shapes:
        p = {"W_row": attention.uniform(f, heads * d)} if case["layers"] == "gatv2" and not case["share_weights"] else {}
        p["W"] = attention.uniform(f, heads * d)
        names = ["a"] if case["layers"] == "gatv2" else ["row", "neighbour"]
        p |= {name: attention.uniform(1, heads * d) for name in names}
        if case["bias"]:
            p["bias"] = attention.uniform(1, g_l)
        drawn.append(p)
    weights, biases = attention.weights_of(drawn), [p["bias"] for p in drawn if "bias" in p]
    step = start(case, weights, biases)
    scheme.part, scheme.layers = part, len(shapes)
    case["loss"], case["gradients"], case["ages"] = [], [], []
    for epoch in range(case["epochs"]):
        step.zero_grad()
        scheme.begin_epoch()
        h = x
        for l, (p, shape) in enumerate(zip(drawn, shapes)):
            h = layer(a, same, h, p, shape, case, scheme, l)
            if l + 1 < len(shapes):
                h = attention.ACTIVATIONS[case["activation"]](h)
        loss = torch.nn.functional.cross_entropy(h[roots][mask], labels[mask])
        loss.backward()
        scheme.end_epoch(between)
        case["loss"].append(loss.item())
        case["ages"].append(scheme.ages(between))
        if epoch + GRADIENTS >= case["epochs"]:
            note_gradients(case, weights, biases)
        step.step()
    case["final"] = {"weights": autograd.numbers(weights), "biases": autograd.numbers(biases)}
    return case


def settings():
    for smoothing in ("none", "features", "gradients", "both"):
        yield "pipegcn", {"staleness": 1, "smoothing": smoothing, "decay": 0.95 if smoothing != "both" else 0.3}
    default = {"policy": "interval", "interval": 2, "least_change": 0.05, "most_epochs": 10, "cache_input": True,
               "own_rows": "fresh"}
    for changed in ({}, {"interval": 3, "own_rows": "cached"}, {"policy": "change", "least_change": 0.015},
                    {"policy": "change", "least_change": 0.03, "own_rows": "cached", "cache_input": False}):
        yield "sancus", default | changed
    yield "distgnn", {"algorithm": "0c", "delay": 5, "backward": "summed"}


def mistaken(scheme, params):
    """Parameters with a mistake in what is old, each of which the test has to find."""
    if scheme == "pipegcn":
        yield params | {"staleness": 0}
        if params["smoothing"] != "none":
            yield params | {"smoothing": "none"}
    elif scheme == "distgnn":
        yield params | {"algorithm": "cd-0"}  # exact
    elif params["policy"] == "interval":
        yield params | {"interval": params["interval"] + 1}
        yield params | {"own_rows": "cached" if params["own_rows"] == "fresh" else "fresh"}


def sensitive(graphs, case):
    """The case trained, drawn again until every mistake shows in its losses."""
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


def cases(graphs):
    models = [{"layers": "gat", "widths": [4, 6, 3], "heads": [2, 1], "activation": "elu", "bias": True},
              {"layers": "gat", "widths": [3, 4, 4, 3], "heads": [4, 1, 2], "activation": "leaky_relu", "bias": False},
              {"layers": "gatv2", "share_weights": False, "widths": [4, 6, 3], "heads": [3, 1], "activation": "elu",
               "bias": True},
              {"layers": "gatv2", "share_weights": True, "widths": [3, 4, 3], "heads": [2, 2], "activation": "sigmoid",
               "bias": False}]
    number = 0
    for scheme, params in settings():
        for model in models:
            yield {"scheme": scheme, "params": params, "epochs": EPOCHS, "graph": number % len(graphs), "epsilon": 0.0,
                   "normalisation": "none", "self_loops": number % 4 != 3, "combine": "concat", "residual": False,
                   "negative_slope": 0.2, "optimizer": "sgd", "weight_decay": [0.0] * (len(model["widths"]) - 1),
                   "trained_features": False, **model}
            number += 1


def main():
    graphs = autograd.graphs()
    tables = {"graphs": graphs, "cases": [sensitive(graphs, c) for c in cases(graphs)]}
    ages = [age for c in tables["cases"] if c["params"].get("policy") == "change" for of in c["ages"][1:] for age in of]
    assert len({age["sum_epochs"] for age in ages if age["sum_epochs"] < age["rows"]}) > 2  # some send, some do not
    write("attention.json", tables)


if __name__ == "__main__":
    main()
