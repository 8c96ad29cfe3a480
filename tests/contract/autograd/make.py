#!/usr/bin/env python3
"""Writes cases.json: what PyTorch's autograd and optimizers make of small graph neural networks, in float64.

    python3 -m venv VENV && VENV/bin/pip install 'torch==2.2.1' 'numpy<2'
    VENV/bin/python tests/contract/autograd/make.py

Nothing here is shared with gnnbench: Â is a dense matrix built from the edge list, derivatives are autograd's, steps
are torch.optim's. The same numbers come out of every run, up to the last bits of a libm.
"""
import json
import pathlib
import random

import torch

torch.set_default_dtype(torch.float64)
torch.use_deterministic_algorithms(True)
draw = random.Random(20)

LEAKY_SLOPE = 0.01
LEARNING_RATE = 0.05
EPOCHS = 4


def graph(name, vertices, edges, weighted):
    """Row i aggregates from the columns of its entries. Weights are multiples of 1/64, exact in float32."""
    rows = {v: {} for v in range(vertices)}
    for row, column in edges:
        rows[row][column] = draw.randint(16, 128) / 64 if weighted else 1.0
    return {
        "name": name,
        "vertices": vertices,
        "rows": [sorted(rows[v].items()) for v in range(vertices)],
        "weighted": weighted,
        # Exact in float32; the widest model reads all columns, others the first ones.
        "features": [[draw.randint(-256, 256) / 256 for _ in range(6)] for _ in range(vertices)],
        "labels": [draw.randrange(3) for _ in range(vertices)],
        "train": [int(draw.random() < 0.7) for _ in range(vertices)],
    }


def with_label_matrix(g):
    """The graph with any number of its three labels for each vertex: nobody has label 1, vertex 0 has none."""
    matrix = [[int(v > 0 and c != 1 and draw.random() < 0.6) for c in range(3)] for v in range(g["vertices"])]
    return {**{k: v for k, v in g.items() if k != "labels"}, "name": g["name"] + ", several labels",
            "label_matrix": matrix}


def graphs():
    # One way only; vertex 8 receives from nobody, vertex 9 gives to nobody, vertex 2 has a weighted loop of its own.
    directed = [(0, 1), (1, 2), (2, 2), (2, 3), (3, 0), (3, 5), (4, 0), (4, 1), (5, 8), (6, 4), (7, 6), (0, 7),
                (9, 3), (9, 8), (6, 8)]
    # Two components and two vertices without any edge.
    apart = [(0, 1), (1, 0), (1, 2), (2, 1), (0, 2), (4, 5), (5, 6), (6, 4), (6, 5)]
    # A hub that receives from all, and gives to one.
    hub = [(0, v) for v in range(1, 8)] + [(3, 0), (5, 6)]
    return [graph("directed and weighted", 10, directed, True), graph("disconnected", 9, apart, False),
            graph("weighted hub", 8, hub, True)]


def adjacency(g, normalisation, self_loops):
    """Â_vj = w_vj r_v c_j; a missing diagonal entry weighs 1 where the model has self-loops."""
    n = g["vertices"]
    a = torch.zeros(n, n)
    for v, row in enumerate(g["rows"]):
        for column, weight in row:
            a[v, column] = weight
        if self_loops and all(column != v for column, _ in row):
            a[v, v] = 1.0
    if normalisation == "none":
        return a
    received, given = a.sum(1), a.sum(0)
    inverse = lambda sums, power: torch.where(sums > 0, sums.clamp(min=1e-300) ** power, torch.zeros(n))
    if normalisation == "symmetric":
        return inverse(received, -0.5)[:, None] * a * inverse(given, -0.5)[None, :]
    return inverse(received, -1.0)[:, None] * a


ACTIVATIONS = {
    "relu": torch.relu,
    "leaky_relu": lambda z: torch.nn.functional.leaky_relu(z, LEAKY_SLOPE),
    "sigmoid": torch.sigmoid,
}


def no_kink(z, activation):
    # At a kink the derivative is a choice; none may stand there.
    assert activation == "sigmoid" or bool((z.detach().abs() > 1e-6).logical_or(z.detach() == 0).all())
    return z


def forward_of_pairs(kind, a, x, weights, biases, activation, epsilon):
    """GraphSAGE: H W_self + mean(H) W_neighbour + b. GIN: ReLU(((1 + ε) H + A H) W_1 + b_1) W_2 + b_2."""
    h, layers = x, len(weights) // 2
    plus = lambda z, i: z + biases[i] if biases else z
    for l in range(layers):
        first, second = weights[2 * l], weights[2 * l + 1]
        if kind == "sage":
            h = plus(h @ first + (a @ h) @ second, l)
        else:
            h = plus(((1 + epsilon) * h + a @ h) @ first, 2 * l)
            h = plus(torch.relu(no_kink(h, "relu")) @ second, 2 * l + 1)
        if l + 1 < layers:
            h = ACTIVATIONS[activation](no_kink(h, activation))
    return h


def forward(a, x, weights, biases, activation):
    h = x
    for l, w in enumerate(weights):
        h = a @ (h @ w)
        if biases:
            h = h + biases[l]
        if l + 1 < len(weights):
            h = ACTIVATIONS[activation](no_kink(h, activation))
    return h


def numbers(tensors):
    return [t.detach().reshape(-1).tolist() for t in tensors]


def initial(widths, bias, kind):
    uniform = lambda rows, columns: torch.tensor([[draw.uniform(-1, 1) for _ in range(columns)] for _ in range(rows)])
    shapes = list(zip(widths, widths[1:]))
    if kind == "sage":
        shapes = [shape for shape in shapes for _ in ("self", "neighbour")]
    elif kind == "gin":
        shapes = [shape for f, g in shapes for shape in ((f, g), (g, g))]
    weights = [uniform(f, g).requires_grad_() for f, g in shapes]
    columns = widths[1:] if kind != "gin" else [g for _, g in shapes]
    biases = [uniform(1, g).requires_grad_() for g in columns] if bias else []
    return weights, biases


def train(g, case):
    widths = case["widths"]
    a = adjacency(g, case["normalisation"], case["self_loops"])
    x = torch.tensor(g["features"])[:, : widths[0]].clone()
    several = "label_matrix" in g
    labels = torch.tensor(g["label_matrix"]).double() if several else torch.tensor(g["labels"])
    loss_of = torch.nn.BCEWithLogitsLoss() if several else torch.nn.CrossEntropyLoss()
    mask = torch.tensor(g["train"], dtype=torch.bool)
    kind = case["layers"]
    weights, biases = initial(widths, case["bias"], kind)
    case["initial"] = {"weights": numbers(weights), "biases": numbers(biases)}
    matrices = len(weights) // (len(widths) - 1)  # of each layer
    groups = [{"params": [w], "weight_decay": case["weight_decay"][i // matrices]} for i, w in enumerate(weights)]
    groups.append({"params": biases, "weight_decay": 0.0})
    if case["trained_features"]:
        groups.append({"params": [x.requires_grad_()], "weight_decay": 0.0})
    kinds = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW}
    step = kinds[case["optimizer"]]([p for p in groups if p["params"]], lr=LEARNING_RATE)
    case["loss"] = []
    for epoch in range(EPOCHS):
        step.zero_grad()
        if kind == "gcn":
            logits = forward(a, x, weights, biases, case["activation"])
        else:
            logits = forward_of_pairs(kind, a, x, weights, biases, case["activation"], case["epsilon"])
        loss = loss_of(logits[mask], labels[mask])
        loss.backward()
        case["loss"].append(loss.item())
        if epoch == 0:
            case["gradient"] = {"weights": numbers(w.grad for w in weights),
                                "biases": numbers(b.grad for b in biases)}
        step.step()
    case["final"] = {"weights": numbers(weights), "biases": numbers(biases)}
    return case


def cases(all_graphs):
    out = []
    layers = {1: [6, 3], 2: [4, 6, 3], 3: [5, 2, 6, 3]}
    # Gradients in full; the optimizers take turns.
    for activation in ACTIVATIONS:
        for bias in (True, False):
            for depth, widths in layers.items():
                for normalisation in ("symmetric", "mean"):
                    i = len(out)
                    out.append({"graph": i % len(all_graphs), "activation": activation, "bias": bias,
                                "widths": widths if i % 4 < 2 else [widths[0] - 1] + widths[1:],
                                "normalisation": normalisation, "self_loops": i % 5 != 0,
                                "optimizer": ("sgd", "adam", "adamw")[i // 2 % 3], "trained_features": False,
                                "weight_decay": [0.1 / (l + 1) for l in range(depth)]})
    for optimizer in ("sgd", "adam", "adamw"):
        out.append({"graph": 0, "activation": "sigmoid", "bias": True, "widths": [4, 5, 3],
                    "normalisation": "symmetric", "self_loops": True, "optimizer": optimizer,
                    "trained_features": True, "weight_decay": [0.1, 0.0]})
    for c in out:
        c |= {"layers": "gcn", "epsilon": 0.0}
    for kind in ("sage", "gin"):
        for activation in ACTIVATIONS:
            for depth, widths in layers.items():
                i = len(out)
                # Every depth meets every graph.
                out.append({"layers": kind, "graph": (i + i // len(layers)) % len(all_graphs), "activation": activation,
                            "bias": i % 4 != 0, "widths": widths,
                            "normalisation": "mean" if kind == "sage" else "none", "self_loops": False,
                            "epsilon": 0.0 if kind == "sage" else (-0.5, 0.0, 0.25)[i % 3],
                            "optimizer": ("sgd", "adam", "adamw")[i // 2 % 3], "trained_features": i % 5 == 0,
                            "weight_decay": [0.1 / (l + 1) for l in range(depth)]})
    made = [train(all_graphs[c["graph"]], c) for c in out]
    # Drawn last, so that what is above stays as it was.
    singles = len(all_graphs)
    all_graphs += [with_label_matrix(g) for g in all_graphs]
    several = []
    for g in range(singles, len(all_graphs)):
        for i, (optimizer, widths) in enumerate(zip(("sgd", "adam", "adamw"), layers.values())):
            several.append({"layers": "gcn", "epsilon": 0.0, "graph": g, "activation": list(ACTIVATIONS)[i],
                            "bias": i != 1, "widths": widths, "normalisation": ("symmetric", "mean")[g % 2],
                            "self_loops": True, "optimizer": optimizer, "trained_features": i == 2,
                            "weight_decay": [0.1 / (l + 1) for l in range(len(widths) - 1)]})
    return made + [train(all_graphs[c["graph"]], c) for c in several]


def main():
    all_graphs = graphs()
    all_cases = cases(all_graphs)  # adds graphs
    made = {"torch": torch.__version__.split("+")[0], "learning_rate": LEARNING_RATE, "epochs": EPOCHS,
            "graphs": all_graphs, "cases": all_cases}
    lines = ["{"] + [f" {json.dumps(k)}: {json.dumps(v)}," for k, v in made.items() if k not in ("graphs", "cases")]
    for key in ("graphs", "cases"):
        rows = ",\n".join("  " + json.dumps(item, separators=(",", ":")) for item in made[key])
        lines.append(f' "{key}": [\n{rows}\n ]' + ("," if key == "graphs" else ""))
    pathlib.Path(__file__).with_name("cases.json").write_text("\n".join(lines + ["}"]) + "\n")


if __name__ == "__main__":
    main()
