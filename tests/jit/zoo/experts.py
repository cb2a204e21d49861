"""A mixture of experts: each row goes to two of them, those without rows do nothing."""

import scull as paddle
import scull.nn.functional as F
from scull import nn
from tests.jit.zoo.case import Case, adam, draws, spec


class Experts(nn.Layer):
    """A gate, experts behind an `if`, and a counter of who worked."""

    def __init__(self, size=6, count=4, classes=3, top=2):
        super().__init__()
        self.top, self.gate = top, nn.Linear(size, count)
        self.experts = nn.LayerList(
            nn.Sequential(nn.Linear(size, size), nn.Silu()) for _ in range(count)
        )
        self.head = nn.Linear(size, classes)
        self.register_buffer("busy", paddle.zeros([count]))

    def forward(self, x):
        shares = F.softmax(self.gate(x), axis=-1)
        best, chosen = paddle.topk(shares, self.top, axis=-1)
        best = best / best.sum(axis=-1, keepdim=True)
        total = paddle.zeros_like(x)
        for i, expert in enumerate(self.experts):
            weight = (best * (chosen == i).astype(best.dtype)).sum(-1, keepdim=True)
            if (weight > 0).any():
                rows = paddle.nonzero(weight.squeeze(-1) > 0).squeeze(-1)
                worked = expert(paddle.gather(x, rows)) * paddle.gather(weight, rows)
                total = paddle.scatter_nd_add(total, rows.unsqueeze(-1), worked)
        if self.training:
            self.busy += (shares > 0.25).astype("float32").sum(axis=0).detach()
        balance = (shares.mean(axis=0) ** 2).sum() * len(self.experts)
        return self.head(x + total), balance


def build():
    net = Experts()

    def batch(i):
        label = draws(i).integers(0, 3, (5 + i % 3,))
        x = draws(i).standard_normal((len(label), 6)) + label[:, None]
        return x.astype("float32"), label

    optimizer = adam(net)

    def step(x, label):
        logits, balance = net(x)
        cost = F.cross_entropy(logits, label) + 0.1 * balance
        cost.backward()
        optimizer.step()
        optimizer.clear_grad()
        return cost

    return Case([(net, [spec([None, 6])])], batch, step, lambda x, _: net(x))
