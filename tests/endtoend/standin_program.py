#!/usr/bin/env python3
"""A program as a scheme: a GCN of one layer, softmax(ÂXW + b), by plain gradient descent, without any package.

usage: standin_program.py FAULT JOB | FAULT --probe DEVICE

FAULT is what it does wrong: none, absent, malformed, order, early, exit, hang, crash, nan, wrong or many.
"""
import json
import math
import os
import signal
import struct
import sys
import time


if "OPENBLAS_CORETYPE" in os.environ:
    sys.exit("the worker's name of its processor is no business of a program's libraries")


def say(line):
    print(json.dumps(line), flush=True)


def read_npy(path):
    """All elements of a little-endian .npy file, flat, and its shape."""
    data = open(path, "rb").read()
    begin = 10 + struct.unpack("<H", data[8:10])[0]
    header = eval(data[10:begin])  # a Python literal, by the format's definition
    kind = {"<f4": "f", "<f8": "d", "<i4": "i", "<i8": "q", "|u1": "B"}[header["descr"]]
    count = math.prod(header["shape"])
    return struct.unpack(f"<{count}{kind}", data[begin : begin + count * struct.calcsize("<" + kind)]), header["shape"]


def rows_of(flat, width):
    return [list(flat[i : i + width]) for i in range(0, len(flat), width)]


def aggregated(store, x):
    """D^-½ (A + I) D^-½ X"""
    indptr, indices = read_npy(f"{store}/indptr.npy")[0], read_npy(f"{store}/indices.npy")[0]
    sources = [set(indices[indptr[v] : indptr[v + 1]]) | {v} for v in range(len(indptr) - 1)]
    columns = [0] * len(sources)
    for row in sources:
        for u in row:
            columns[u] += 1
    result = []
    for row in sources:
        scale = {u: 1 / math.sqrt(len(row) * columns[u]) for u in row}
        result.append([sum(scale[u] * x[u][f] for u in row) for f in range(len(x[0]))])
    return result


def train(fault, job):
    store, split = job["dataset"]["store"], job["dataset"]["split"]
    features, classes = job["model"]["widths"]
    w = rows_of(read_npy(job["train"]["initial_weights"] + "/W0.npy")[0], classes)
    b = list(read_npy(job["train"]["initial_weights"] + "/b0.npy")[0])
    h = aggregated(store, rows_of(read_npy(f"{store}/features.npy")[0], features))
    labels = read_npy(f"{store}/labels.npy")[0]
    masks = read_npy(f"{store}/masks.npy")[0][split * len(labels) : (split + 1) * len(labels)]
    chosen = [v for v in range(len(labels)) if masks[v] == 1]
    for epoch in range(job["warmup"] + job["epochs"]):
        start = time.perf_counter()
        loss = 0.0
        gradient = [[0.0] * classes for _ in range(features)]
        bias_gradient = [0.0] * classes
        for v in chosen:
            z = [b[c] + sum(h[v][f] * w[f][c] for f in range(features)) for c in range(classes)]
            shift = max(z)
            total = sum(math.exp(value - shift) for value in z)
            loss += (math.log(total) + shift - z[labels[v]]) / len(chosen)
            for c in range(classes):
                d = (math.exp(z[c] - shift) / total - (c == labels[v])) / len(chosen)
                bias_gradient[c] += d
                for f in range(features):
                    gradient[f][c] += d * h[v][f]
        rate = job["train"]["lr"] * (2 if fault == "wrong" else 1)
        for c in range(classes):
            b[c] -= rate * bias_gradient[c]
            for f in range(features):
                w[f][c] -= rate * gradient[f][c]
        if epoch == 2:
            go_wrong(fault)
        seconds = time.perf_counter() - start
        say({"epoch": epoch + (epoch == 2 and fault == "order"), "loss": loss, "wall_s": seconds,
             "phases": {"gemm": seconds / 2, "other": seconds / 2}})
    if fault == "many":
        say({"epoch": epoch + 1, "loss": loss, "wall_s": 0.1})


def go_wrong(fault):
    if fault == "malformed":
        print("epoch 2 done", flush=True)
    elif fault == "early":
        sys.exit(0)
    elif fault == "exit":
        sys.exit("the stand-in gives up")
    elif fault == "hang":
        time.sleep(3600)
    elif fault == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif fault == "nan":
        say({"epoch": 2, "loss": None, "wall_s": 0.1})


def main():
    fault = sys.argv[1]
    if sys.argv[2] == "--probe":
        say({"skipped": "the package numpy is not installed"} if fault == "absent" else {"versions": {"stand-in": "1.0"}})
        return
    say({"versions": {"stand-in": "1.0"}, "device": "a stand-in's CPU"})
    train(fault, json.load(open(sys.argv[2])))


main()
