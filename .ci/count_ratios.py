#!/usr/bin/env python3
"""Adds to Demirci et al.'s measured.csv what follows from its counted lines: HP over GP of each graph, and geometric means
over the graphs, in Table 2 and as the shares that the text states. Each of the counted lines is a partitioner's volume or
messages over the random partition's."""
import csv
import math
import sys

PATH = sys.argv[1]
with open(PATH, newline="", encoding="utf-8") as file:
    lines = [line for line in csv.DictReader(file) if line["table"] == "table-2"
             and not line["row"].endswith("HP/GP") and not line["row"].startswith("mean ")]
columns = list(lines[0])
by_place = {(line["row"], line["column"]): line for line in lines}
graphs = sorted({line["row"].removesuffix(" HP") for line in lines if line["row"].endswith(" HP")})
metrics = sorted({line["column"] for line in lines})


def derived(row, column, value, base, of):
    return {**base, "row": row, "column": column, "value": f"{value:.6f}", "of": of, "command": "./dev papers demirci"}


added, quotients = [], {}
for graph in graphs:
    for metric in metrics:
        hp, gp = by_place[graph + " HP", metric], by_place[graph + " GP", metric]
        quotient = float(hp["value"]) / float(gp["value"])
        quotients[graph, metric] = quotient
        added.append(derived(graph + " HP/GP", metric, quotient, hp,
                             f"{hp['dataset']}: the counted volume or messages of hypergraph over those of metis, 512 parts"))
OF_TEXT = {"volume avg": "average volume", "volume max": "maximum volume", "messages avg": "messages",
           "messages max": "maximum messages"}
stated = []
for kind, compared in {"HP": "HP under RP", "GP": "GP under RP", "HP/GP": "HP under GP"}.items():
    for metric in metrics:
        values = [quotients[g, metric] if kind == "HP/GP" else float(by_place[f"{g} {kind}", metric]["value"]) for g in graphs]
        mean = math.exp(sum(map(math.log, values)) / len(values))
        base = {**by_place[graphs[0] + " HP", metric], "dataset": "eight graphs", "commit": ""}
        added.append(derived(f"mean {kind}", metric, mean, base,
                             f"geometric mean of the counted numbers of {len(graphs)} graphs, of which amazon0601 alone is the paper's"))
        stated.append({**added[-1], "table": "stated", "row": f"{compared}, {OF_TEXT[metric]}", "column": "value", "unit": "%",
                       "value": f"{100 * (1 - mean):.4f}",
                       "of": f"1 less the geometric mean of {len(graphs)} graphs in Table 2, of which amazon0601 alone is the paper's"})
with open(PATH, "w", newline="", encoding="utf-8") as file:
    writer = csv.DictWriter(file, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines + added + stated)
