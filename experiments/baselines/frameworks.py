"""What the programs here share: environments, versions, devices, optimizers, and the lines that they print."""

import importlib.metadata
import json
import math
import os
import pathlib
import sys

ENVIRONMENTS = {"torch.sparse": "pyg", "pyg": "pyg", "dgl": "dgl"}
PACKAGES = {"torch.sparse": ["torch"], "pyg": ["torch", "torch_geometric"], "dgl": ["torch", "dgl"]}
TRAIN = 1  # of a store's masks: none 0, train 1, validation 2, test 3


class Lines:
    """stdout has nothing but lines: whatever packages print goes to stderr."""

    def __init__(self):
        self.out = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)

    def say(self, line):
        print(json.dumps(line), file=self.out, flush=True)


def environments():
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(os.environ.get("GNNBENCH_BASELINES") or pathlib.Path(cache) / "gnnbench" / "baselines")


def enter_environment(framework):
    folder = environments() / ENVIRONMENTS[framework]
    python = folder / "bin" / "python"
    if python.exists() and pathlib.Path(sys.prefix).resolve() != folder.resolve():
        os.execv(python, [str(python), *sys.argv])


def versions(framework):
    return {package: importlib.metadata.version(package) for package in PACKAGES[framework]}


def device_name(device):
    if device == "cuda":
        import torch

        return torch.cuda.get_device_name()
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "CPU"


def why_not(framework, device):
    """Why it cannot run here; None where it can."""
    try:
        versions(framework)
    except importlib.metadata.PackageNotFoundError as missing:
        return (
            f"the Python package {missing.name} is not installed; experiments/baselines/setup.sh "
            f"{ENVIRONMENTS[framework]} makes an environment that has it"
        )
    if device == "cuda":
        import torch

        if not torch.cuda.is_available():
            return "PyTorch finds no CUDA device"
        if framework == "dgl":
            import dgl

            try:
                dgl.graph(([0], [0])).to("cuda")
            except dgl.DGLError:
                return "DGL was installed without CUDA"
    return None


def make_optimizer(train, layers):
    """`layers` has ([weights], [biases]) of each: biases do not decay."""
    import torch

    groups = []
    for (weights, biases), decay in zip(layers, train["weight_decay"]):
        groups.append({"params": weights, "weight_decay": decay})
        if biases:
            groups.append({"params": biases, "weight_decay": 0})
    if train["optimizer"] == "sgd":
        return torch.optim.SGD(groups, lr=train["lr"])
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[train["optimizer"]]
    return kind(groups, lr=train["lr"], betas=(train["beta1"], train["beta2"]), eps=train["epsilon"])


def activation_of(model):
    import torch
    import torch.nn.functional as F

    known = {"identity": lambda h: h, "relu": F.relu, "leaky_relu": F.leaky_relu, "sigmoid": torch.sigmoid,
             "elu": F.elu}
    return known[model["activation"]]


def dropouts_of(train, layers):
    return [train["input_dropout"]] + [train["dropout"]] * (layers - 1)


def initial_parameter(job, name, device):
    """A matrix [f × g], or a bias [1 × g], as the job's folder has it."""
    import numpy as np
    import torch

    array = np.load(pathlib.Path(job["train"]["initial_weights"]) / f"{name}.npy")
    return torch.from_numpy(array).to(device, getattr(torch, job["precision"]))


def features_of(job, device):
    import numpy as np
    import torch

    x = np.load(pathlib.Path(job["dataset"]["store"]) / "features.npy")
    if job["model"]["feature_normalisation"] == "row":
        sums = x.sum(1, dtype=np.float64, keepdims=True)
        x = x * np.divide(1, sums, out=np.zeros_like(sums), where=sums != 0)
    return torch.from_numpy(x).to(device, getattr(torch, job["precision"]))


def labels_and_loss(job, device):
    """Class numbers and cross-entropy; or, where vertices have any number of labels, a matrix and BCE with logits."""
    import numpy as np
    import torch
    import torch.nn.functional as F

    store = pathlib.Path(job["dataset"]["store"])
    if (store / "label_matrix.npy").exists():
        matrix = torch.from_numpy(np.load(store / "label_matrix.npy")).to(device, getattr(torch, job["precision"]))
        return matrix, F.binary_cross_entropy_with_logits
    return torch.from_numpy(np.load(store / "labels.npy")).to(device, torch.int64), F.cross_entropy


def train_mask(job):
    import numpy as np

    return np.load(pathlib.Path(job["dataset"]["store"]) / "masks.npy")[job["dataset"]["split"]] == TRAIN


def loss_or_null(loss):
    return loss if math.isfinite(loss) else None


def run(framework, job_file, device, why_unsupported, train):
    """Answers a probe (no job), or trains: train(job, lines), unless why_unsupported(job) says something."""
    enter_environment(framework)
    os.environ["DGLBACKEND"] = "pytorch"
    lines = Lines()
    job = json.load(open(job_file)) if job_file else None
    reason = why_not(framework, job["device"] if job else device)
    if not reason and job:
        reason = "trains on one device" if job["gpus"] > 1 else why_unsupported(job)
    if reason:
        lines.say({"skipped": reason})
        return
    if not job:
        lines.say({"versions": versions(framework)})
        return
    lines.say({"versions": versions(framework), "device": device_name(job["device"])})
    try:
        train(job, lines)
    except (MemoryError, RuntimeError) as error:  # torch.cuda.OutOfMemoryError is a RuntimeError
        message = str(error).splitlines()[0] if str(error) else "no memory left"
        short = isinstance(error, MemoryError) or "out of memory" in message or "can't allocate memory" in message
        if not short:
            raise
        lines.say({"oom": message})
