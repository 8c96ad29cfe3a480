#!/usr/bin/env python3
"""Writes cases.json: what PyTorch's autograd and optimizers make of small graph attention networks, in float64.

    VENV/bin/python tests/contract/attention/make.py        (the environment of ../autograd/make.py)

The models are written from the papers' equations (Veličković et al., ICLR 2018, equations 1 to 6; Brody et al., ICLR 2022,
equation 7) with dense matrices: e_ij for all pairs, exponentials where there is an edge, weights of edges as factors of exponentials. Nothing is fused, no
maximum is subtracted, and nothing is shared with gnnbench. Dropout of coefficients has gnnbench's masks: words of
Philox4x32-10 (Salmon et al., SC 2011), computed here from the paper's definition.
"""
import json
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "autograd"))
import make as autograd  # noqa: E402
import torch  # noqa: E402

draw = random.Random(44)
LEARNING_RATE = autograd.LEARNING_RATE
EPOCHS = autograd.EPOCHS
ACTIVATIONS = {**autograd.ACTIVATIONS, "elu": torch.nn.functional.elu}


def uniform(rows, columns):
    return torch.tensor([[draw.uniform(-1, 1) for _ in range(columns)] for _ in range(rows)]).requires_grad_()


ATTENTION = 10  # gnnbench::Draw::attention


def philox(seed, what, a, b, c):
    """Four words: ten rounds of Philox4x32 at the counter (a, b, c), keyed by the seed and what is drawn."""
    low = 0xFFFFFFFF
    key = [seed & low, (seed >> 32) ^ (what * 0x9E3779B9 & low)]
    counter = [a & low, a >> 32, b, c]
    for _ in range(10):
        first, second = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [second >> 32 ^ counter[1] ^ key[0], second & low, first >> 32 ^ counter[3] ^ key[1], first & low]
        key = [key[0] + 0x9E3779B9 & low, key[1] + 0xBB67AE85 & low]
    return counter


def mask(rate, n, head, number, epoch):
    """By what dropout multiplies a head's coefficients [n × n] of the model's layer `number`."""
    kept = [[philox(0, ATTENTION, i << 32 | j, head // 4, epoch << 6 | number)[head % 4] >= int(rate * 2**32)
             for j in range(n)] for i in range(n)]
    return torch.tensor(kept, dtype=torch.float64) / (1 - rate)


def layers_of(case):
    """f, heads, columns of a head, whether heads are averaged."""
    widths, heads = case["widths"], case["heads"]
    for l, (f, g) in enumerate(zip(widths, widths[1:])):
        h = heads[l] if len(heads) > 1 else heads[0]
        mean = l + 2 == len(widths) or case["combine"] == "mean"
        yield f, g, h, (g if mean else g // h), mean


def leaky(a, argument, slope):
    """Near 0 rounding would decide the derivative. At 0 itself, between rows of zeros, it is the slope for both."""
    size = argument.detach().abs()[a > 0]
    assert bool(((size > 1e-9) | (size == 0)).all())
    return torch.nn.functional.leaky_relu(argument, slope)


def scores(a, x, parameters, heads, d, h, slope):
    """What head h scores all pairs with, [vertices × vertices], and what it sums up, [vertices × d]."""
    columns = [k * heads + h for k in range(d)]
    if "a" in parameters:  # GATv2
        t = x @ parameters["W"][:, columns]
        s = x @ parameters["W_row"][:, columns] if "W_row" in parameters else t
        return leaky(a, s[:, None, :] + t[None, :, :], slope) @ parameters["a"][0, columns], t
    hw = x @ parameters["W"][:, columns]
    left, right = hw @ parameters["row"][0, columns], hw @ parameters["neighbour"][0, columns]
    return leaky(a, left[:, None] + right[None, :], slope), hw


def layer(a, x, parameters, heads, d, mean, slope, masks):
    """parameters: [residual,] W, row, neighbour[, bias], or of GATv2 [residual,] [W_row,] W, a[, bias]. Column k · heads + h
    of HW is column k of head h. masks: of each head's coefficients; empty without dropout."""
    outputs = []
    for h in range(heads):
        e, summed = scores(a, x, parameters, heads, d, h, slope)
        weights = a * torch.exp(e)
        total = weights.sum(1, keepdim=True)
        alpha = torch.where(total > 0, weights / torch.where(total > 0, total, torch.ones_like(total)), 0.0)
        outputs.append((alpha * masks[h] if masks else alpha) @ summed)
    stacked = torch.stack(outputs, 2)  # [vertex, column of a head, head]
    z = stacked.mean(2) if mean else stacked.reshape(x.shape[0], d * heads)
    if "residual" in parameters:
        z = z + x @ parameters["residual"]
    return z + parameters["bias"] if "bias" in parameters else z


def forward(a, x, all_parameters, case, epoch):
    h, rate = x, case.get("attention_dropout", 0)
    shapes = list(layers_of(case))
    for l, (parameters, (_, _, heads, d, mean)) in enumerate(zip(all_parameters, shapes)):
        masks = [mask(rate, len(x), head, l, epoch) for head in range(heads)] if rate > 0 else []
        h = layer(a, h, parameters, heads, d, mean, case["negative_slope"], masks)
        if l + 1 < len(shapes):
            h = ACTIVATIONS[case["activation"]](autograd.no_kink(h, "sigmoid" if case["activation"] == "elu"
                                                                 else case["activation"]))
    return h


def weights_of(all_parameters):
    return [p[k] for p in all_parameters for k in ("residual", "W_row", "W", "row", "neighbour", "a") if k in p]


def train(g, case):
    a = autograd.adjacency(g, "none", case["self_loops"])
    x = torch.tensor(g["features"])[:, : case["widths"][0]].clone()
    labels, trained = torch.tensor(g["labels"]), torch.tensor(g["train"], dtype=torch.bool)
    all_parameters = []
    for f, g_l, heads, d, _ in layers_of(case):
        p = {"residual": uniform(f, g_l)} if case["residual"] else {}
        if case["layers"] == "gat":
            p |= {"W": uniform(f, heads * d), "row": uniform(1, heads * d), "neighbour": uniform(1, heads * d)}
        else:
            p |= {} if case["share_weights"] else {"W_row": uniform(f, heads * d)}
            p |= {"W": uniform(f, heads * d), "a": uniform(1, heads * d)}
        if case["bias"]:
            p["bias"] = uniform(1, g_l)
        all_parameters.append(p)
    weights, biases = weights_of(all_parameters), [p["bias"] for p in all_parameters if "bias" in p]
    case["initial"] = {"weights": autograd.numbers(weights), "biases": autograd.numbers(biases)}
    groups = [{"params": [w], "weight_decay": decay}
              for p, decay in zip(all_parameters, case["weight_decay"]) for w in weights_of([p])]
    groups.append({"params": biases, "weight_decay": 0.0})
    if case["trained_features"]:
        groups.append({"params": [x.requires_grad_()], "weight_decay": 0.0})
    kinds = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW}
    step = kinds[case["optimizer"]]([p for p in groups if p["params"]], lr=LEARNING_RATE)
    case["loss"] = []
    for epoch in range(EPOCHS):
        step.zero_grad()
        loss = torch.nn.CrossEntropyLoss()(forward(a, x, all_parameters, case, epoch)[trained], labels[trained])
        loss.backward()
        case["loss"].append(loss.item())
        if epoch == 0:
            case["gradient"] = {"weights": autograd.numbers(w.grad for w in weights),
                                "biases": autograd.numbers(b.grad for b in biases)}
        step.step()
    case["final"] = {"weights": autograd.numbers(weights), "biases": autograd.numbers(biases)}
    return case


def cases(graphs):
    out = []
    models = [([6, 3], [1]), ([6, 3], [4]), ([4, 8, 3], [8, 1]), ([4, 6, 3], [2]), ([5, 6, 8, 3], [3, 4, 1]),
              ([6, 12, 3], [6]), ([3, 4, 4, 3], [2])]
    for combine in ("concat", "mean"):
        for residual in (False, True):
            for widths, heads in models:
                i = len(out)
                out.append({"layers": "gat", "epsilon": 0.0, "normalisation": "none", "widths": widths, "heads": heads,
                            "combine": combine, "residual": residual, "graph": i % len(graphs),
                            "negative_slope": (0.2, 0.05)[i // 3 % 2],
                            "activation": list(ACTIVATIONS)[i % len(ACTIVATIONS)], "bias": i % 5 != 2,
                            # Without them some vertices have nobody to attend to.
                            "self_loops": i % 4 != 1, "optimizer": ("sgd", "adam", "adamw")[i // 2 % 3],
                            "trained_features": i % 6 == 5,
                            "weight_decay": [0.1 / (l + 1) for l in range(len(widths) - 1)]})
    for widths, heads in (([6, 3], [4]), ([4, 8, 3], [8, 1]), ([5, 6, 8, 3], [3, 4, 1]), ([6, 12, 3], [6])):
        for rate in (0.3, 0.6):
            i = len(out)
            out.append({"layers": "gat", "epsilon": 0.0, "normalisation": "none", "widths": widths, "heads": heads,
                        "combine": "concat", "residual": i % 4 == 1, "graph": i % len(graphs), "negative_slope": 0.2,
                        "attention_dropout": rate, "activation": "elu", "bias": True, "self_loops": True,
                        "optimizer": "sgd", "trained_features": i % 3 == 1,
                        "weight_decay": [0.1 / (l + 1) for l in range(len(widths) - 1)]})
    for share in (False, True):
        for widths, heads in models:
            for rate in (0.0, 0.4):
                i = len(out)
                out.append({"layers": "gatv2", "share_weights": share, "epsilon": 0.0, "normalisation": "none",
                            "widths": widths, "heads": heads, "combine": ("concat", "mean")[i % 2],
                            "residual": i % 3 == 1, "graph": i % len(graphs), "negative_slope": (0.2, 0.05)[i // 3 % 2],
                            "attention_dropout": rate, "activation": list(ACTIVATIONS)[i % len(ACTIVATIONS)],
                            "bias": i % 5 != 2, "self_loops": i % 4 != 1, "optimizer": ("sgd", "adam", "adamw")[i // 2 % 3],
                            "trained_features": i % 6 == 5,
                            "weight_decay": [0.1 / (l + 1) for l in range(len(widths) - 1)]})
    return [train(graphs[c["graph"]], c) for c in out]


def main():
    graphs = autograd.graphs()
    made = {"torch": torch.__version__.split("+")[0], "learning_rate": LEARNING_RATE, "epochs": EPOCHS,
            "graphs": graphs, "cases": cases(graphs)}
    lines = ["{"] + [f" {json.dumps(k)}: {json.dumps(v)}," for k, v in made.items() if k not in ("graphs", "cases")]
    for key in ("graphs", "cases"):
        rows = ",\n".join("  " + json.dumps(item, separators=(",", ":")) for item in made[key])
        lines.append(f' "{key}": [\n{rows}\n ]' + ("," if key == "graphs" else ""))
    pathlib.Path(__file__).with_name("cases.json").write_text("\n".join(lines + ["}"]) + "\n")


if __name__ == "__main__":
    main()
