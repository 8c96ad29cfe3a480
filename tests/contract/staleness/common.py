"""What make.py and attention.py have in common."""
import importlib.util
import json
import pathlib

import torch

from schemes import PARTS

here = pathlib.Path(__file__).resolve().parent
spec = importlib.util.spec_from_file_location("autograd_make", here.parent / "autograd" / "make.py")
exact = importlib.util.module_from_spec(spec)
spec.loader.exec_module(exact)

EPOCHS = 5


def start(case, weights, biases):
    """Gives tensors the case's initial values, or notes theirs as these; what steps them."""
    if "initial" in case:
        with torch.no_grad():
            for tensors, flat in ((weights, case["initial"]["weights"]), (biases, case["initial"]["biases"])):
                for t, values in zip(tensors, flat):
                    t.copy_(torch.tensor(values).reshape(t.shape))
    case["initial"] = {"weights": exact.numbers(weights), "biases": exact.numbers(biases)}
    return torch.optim.SGD([*weights, *biases], lr=exact.LEARNING_RATE)


def note_gradients(case, weights, biases):
    case["gradients"].append({"weights": exact.numbers(w.grad for w in weights),
                              "biases": exact.numbers(b.grad for b in biases)})


def cut_vertices(g, case, draw):
    """Deals entries to parts, and roots to parts that have one of their vertex' entries."""
    case["part_of_entry"] = [draw.randrange(PARTS) for row in g["rows"] for _ in row]
    parts = iter(case["part_of_entry"])
    having = [set() for _ in range(g["vertices"])]
    for v, row in enumerate(g["rows"]):
        for column, _ in row:
            part = next(parts)
            having[v].add(part)
            having[column].add(part)
    case["part_of"] = [draw.choice(sorted(parts)) if parts else p for parts, p in zip(having, case["part_of"])]


def write(name, tables):
    """`tables`: graphs, and the cases that were trained on them."""
    made = {"torch": torch.__version__.split("+")[0], "learning_rate": exact.LEARNING_RATE, "epochs": EPOCHS,
            "parts": PARTS}
    lines = ["{"] + [f" {json.dumps(k)}: {json.dumps(v)}," for k, v in made.items()]
    for key, table in tables.items():
        rows = ",\n".join("  " + json.dumps(item, separators=(",", ":")) for item in table)
        lines.append(f' "{key}": [\n{rows}\n ]' + ("," if key == "graphs" else ""))
    (here / name).write_text("\n".join(lines + ["}"]) + "\n")
