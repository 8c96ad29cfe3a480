"""Schemes that compute with old rows, each from its equations, on all parts at once (make.py says how)."""
import torch

PARTS = 3


class PipeGcn:
    """Products of epoch t take H_B and return gradients as they were in epoch t - 1, or averages; zeros at first."""

    def __init__(self, params):
        smoothing = params["smoothing"]
        self.stale = params["staleness"] == 1
        self.decay = {"features": params["decay"] if smoothing in ("features", "both") else 0.0,
                      "gradients": params["decay"] if smoothing in ("gradients", "both") else 0.0}
        self.used, self.arrived = {}, {}  # by what and layer
        self.returns, self.epoch = [], -1

    def taken(self, what, layer, like):
        key = what, layer
        if key not in self.used:
            self.used[key] = torch.zeros_like(like)
        elif key in self.arrived:
            decay = self.decay[what]
            self.used[key] = decay * self.used[key] + (1 - decay) * self.arrived.pop(key)
        return self.used[key]

    def begin_epoch(self):
        self.returns = []

    def aggregate(self, inside, between, layer, h):
        if not self.stale:
            return inside @ h + between @ h
        stale = self.taken("features", layer, h.detach())
        self.arrived["features", layer] = h.detach().clone()
        if h.requires_grad:
            returned = self.taken("gradients", layer, h.detach())
            own = h.clone()
            own.register_hook(lambda g: g + returned)
        else:
            own = h
        t = inside @ own + between @ stale
        if h.requires_grad:
            t.retain_grad()
            self.returns.append((layer, t))
        return t

    def end_epoch(self, between):
        for layer, t in self.returns:
            self.arrived["gradients", layer] = between.T @ t.grad
        self.epoch += 1

    def ages(self, between):
        """Of the epoch that has ended: each part receives the rows that its own rows of O need, and returns as many."""
        if not self.stale:
            return []
        rows = sum(int((between[self.part == part] != 0).any(0).sum()) for part in range(PARTS))
        layers = range(self.layers)
        absent = rows if self.epoch == 0 else 0
        return [{"layer": l, "kind": kind, "rows": rows, "absent": absent, "sum_epochs": rows - absent,
                 "most_epochs": int(rows > absent)}
                for kind in ("features", "gradients") for l in layers if kind == "features" or l > 0]


class Sancus:
    """Products take other parts' rows as they were last sent; gradients are those of exact products with this epoch's rows."""

    def __init__(self, params):
        self.params = params
        self.sent, self.age = {}, {}  # by layer: rows as last sent; by layer and part
        self.epoch = -1

    def begin_epoch(self):
        self.epoch += 1

    def sends(self, layer, part, h):
        """Whether this part sends its rows of this layer's input."""
        p = self.params
        if self.epoch == 0 or (layer == 0 and not p["cache_input"]):
            return True
        if layer == 0:  # X stays the same
            return False
        if p["policy"] == "interval":
            return self.epoch % p["interval"] == 0
        if p["policy"] == "released":
            return layer != 1 or self.epoch < 51 or self.epoch % 2 == 0
        before = self.sent[layer][self.part == part]
        change = (h[self.part == part] - before).norm() / before.norm()
        return self.age[layer, part] >= p["most_epochs"] or change.item() >= p["least_change"]

    def aggregate(self, inside, between, layer, h):
        now = h.detach()
        if layer not in self.sent:
            self.sent[layer] = torch.zeros_like(now)
        sent = self.sent[layer].clone()
        for part in range(PARTS):
            here = self.part == part
            if self.sends(layer, part, now):
                sent[here] = now[here]
                self.age[layer, part] = 0
            else:
                self.age[layer, part] += 1
        self.sent[layer] = sent
        own = sent if self.params["own_rows"] == "cached" else now
        return inside @ own + between @ sent

    def end_epoch(self, between):
        pass

    def ages(self, between):
        """Of the epoch that has ended: each part has all rows of the others."""
        counts = [int((self.part == part).sum()) for part in range(PARTS)]
        ages = []
        for layer in range(1, self.layers):
            if self.exact() or (self.params["policy"] == "released" and layer != 1):
                continue
            of = [self.age[layer, part] for part in range(PARTS)]
            ages.append({"layer": layer, "kind": "features", "rows": sum(counts) * (PARTS - 1), "absent": 0,
                         "sum_epochs": sum(c * a for c, a in zip(counts, of)) * (PARTS - 1),
                         "most_epochs": max(a for c, a in zip(counts, of) if c > 0)})
        return ages

    def exact(self):
        return self.params["policy"] == "interval" and self.params["interval"] == 1


class DistGnn:
    """Of a product, each copy of a vertex has its part's share. Shares go to the vertex' root and their sums back: at once, in
    bins for use r epochs later, or never. So do gradients, or they stay where they are. Where degrees are those known, shares
    are not normalised, their degrees go with them, and each copy divides what it has by the degree that it then has. A
    diagonal that the graph has not is the root's, or is added by every copy to what it has."""

    def __init__(self, params):
        self.algorithm = params["algorithm"]
        self.delay = params["delay"] if self.algorithm == "cd-r" else 1
        self.summed = params["backward"] == "summed" and self.algorithm != "0c"
        self.known = params.get("degrees") == "known"
        self.own_loops = params.get("self_loops") == "copies"
        self.shares, self.sums = {}, {}  # by what, layer and epoch: of all copies; of roots
        self.epoch = -1

    def lay_out(self, g, a, case):
        """The copies of all parts, and Â's entries between copies of one part."""
        stored = [(v, column) for v, row in enumerate(g["rows"]) for column, _ in row]
        part_of = dict(zip(stored, case["part_of_entry"]))
        root = case["part_of"]
        of_part = [{v for pair, p in part_of.items() if p == part for v in pair} | {v for v, p in enumerate(root) if p == part}
                   for part in range(PARTS)]
        self.copies = [(part, v) for part in range(PARTS) for v in sorted(of_part[part])]
        place = {copy: i for i, copy in enumerate(self.copies)}
        self.vertex = torch.tensor([v for _, v in self.copies])
        self.root = torch.tensor([place[root[v], v] for _, v in self.copies])  # of each copy's vertex
        self.roots = torch.tensor([place[p, v] for v, p in enumerate(root)])  # by vertex
        self.leaf = self.root != torch.arange(len(self.copies))
        self.bin = torch.zeros(len(self.copies), dtype=torch.long)
        for part in range(PARTS):
            for other in range(PARTS):
                lent = [i for i, (p, v) in enumerate(self.copies) if p == part and root[v] == other and p != other]
                for k, i in enumerate(lent):
                    self.bin[i] = k % self.delay
        inside = torch.zeros(len(self.copies), len(self.copies))
        self.loops = torch.zeros(len(self.copies), 1)
        for v in range(len(a)):
            if self.own_loops and (v, v) not in part_of:
                self.loops[self.vertex == v] = a[v, v]
            for u in range(len(a)):
                if self.own_loops and u == v and (v, v) not in part_of:
                    continue
                p = part_of.get((v, u), root[v])
                if a[v, u] != 0:
                    inside[place[p, v], place[p, u]] = a[v, u]
        self.degrees = inside.sum(1, keepdim=True)
        return inside

    def begin_epoch(self):
        self.epoch += 1

    def together(self, what, layer, own):
        """What copies go on with, from their own shares."""
        if self.algorithm == "0c":
            return own
        t, r = self.epoch, self.delay
        result = own.clone()
        now = self.leaf & (self.bin == t % r)
        if self.algorithm == "cd-0":
            result.index_add_(0, self.root[self.leaf], own[self.leaf])
            result[self.leaf] = result[self.root[self.leaf]]
            return result
        self.shares[what, layer, t] = own
        if t >= r:
            result.index_add_(0, self.root[now], self.shares[what, layer, t - r][now])
            self.sums[what, layer, t] = result.clone()
        if t >= 2 * r:
            result[now] = self.sums[what, layer, t - r][self.root[now]]
        return result

    def aggregate(self, inside, between, layer, h):
        share = inside @ h
        if share.requires_grad and h.requires_grad and self.summed:
            share.register_hook(lambda g: self.together("gradients", layer, g.detach().clone()))
        z = share + (self.together("features", layer, share.detach().clone()) - share).detach() + self.loops * h
        if not self.known:
            return z
        degrees = self.together("degrees", layer, self.degrees) + self.loops
        return z * torch.where(degrees > 0, 1 / degrees, 0.0)  # as Â's rows without weights: their scale is 0

    def end_epoch(self, between):
        pass

    def ages(self, between):
        """Of the epoch that has ended: copies' shares at roots, and roots' sums at copies."""
        if self.algorithm != "cd-r":
            return []
        t, r, leaves = self.epoch, self.delay, int(self.leaf.sum())
        now = int((self.leaf & (self.bin == t % r)).sum())
        used = now * ((t >= r) + (t >= 2 * r))
        return [{"layer": l, "kind": kind, "rows": 2 * leaves, "absent": 2 * leaves - used, "sum_epochs": r * used,
                 "most_epochs": r if used else 0}
                for kind in ("features", "gradients") for l in range(self.layers)
                if kind == "features" or (l > 0 and self.summed)]


class StaleProduct(torch.autograd.Function):
    """T W, with the gradients of Â H W: U = Âᵀ G, dW = Hᵀ U, dH = U Wᵀ."""

    @staticmethod
    def forward(ctx, h, w, t, a):
        ctx.save_for_backward(h, w, a)
        return t @ w

    @staticmethod
    def backward(ctx, g):
        h, w, a = ctx.saved_tensors
        u = a.T @ g
        return u @ w.T, h.T @ u, None, None


SCHEMES = {"pipegcn": PipeGcn, "sancus": Sancus, "distgnn": DistGnn}
