"""Training steps of networks in plain eager code beside PyTorch: machine code of single operators.

Each network is written once, for a kit: what makes the layers of a framework and computes with
them. Both begin with the same parameters, and their losses are compared.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import scull as paddle
from benchmarks.harness import Row, beside, cpu_time, rounds, short, spread, torch
from scull.flags import flags

HEADS, LENGTH, WIDTH, WORDS = 8, 128, 256, 1000  # of the language model
CLOSE = 1e-3  # how far losses may be apart

Forward = Callable[[Any], Any]


class Ours:
    """Layers of scull."""

    def __init__(self) -> None:
        self.layers: list[Any] = []
        self.F, self.cat = paddle.nn.functional, paddle.concat
        self.matmul = lambda x, y: paddle.matmul(x, y, transpose_y=True)

    def make(self, name: str, *sizes: int, **options: Any) -> Any:
        """A layer, whose parameters are trained."""
        if "bias" in options:
            options["bias_attr"] = options.pop("bias")
        names = {"Conv": "Conv2D", "Norm": "BatchNorm2D"}
        self.layers.append(getattr(paddle.nn, names.get(name, name))(*sizes, **options))
        return self.layers[-1]

    def parameters(self) -> list[Any]:
        return [p for layer in self.layers for p in layer.parameters()]

    def tensor(self, array: Any) -> Any:
        return paddle.to_tensor(array)

    def axes(self, x: Any, order: list[int]) -> Any:
        return x.transpose(order)

    def step(self, forward: Forward, rate: float, name: str, x: Any, y: Any) -> Any:
        """A training step, which gives the loss."""
        kinds = {"adam": "Adam", "adamw": "AdamW", "momentum": "Momentum"}
        update = getattr(paddle.optimizer, kinds[name])(rate, parameters=self.parameters())

        def run() -> float:
            loss = self.F.cross_entropy(forward(x), y)
            loss.backward()
            update.step()
            update.clear_grad()
            return float(loss)

        return run


class Theirs(Ours):
    """Layers of PyTorch."""

    def __init__(self) -> None:
        self.layers = []
        self.F, self.cat = torch().nn.functional, torch().cat
        self.matmul = lambda x, y: torch().matmul(x, y.transpose(-1, -2))

    def make(self, name: str, *sizes: int, **options: Any) -> Any:
        names = {"Conv": "Conv2d", "Norm": "BatchNorm2d"}
        self.layers.append(getattr(torch().nn, names.get(name, name))(*sizes, **options))
        return self.layers[-1]

    def tensor(self, array: Any) -> Any:
        return torch().tensor(array)

    def axes(self, x: Any, order: list[int]) -> Any:
        return x.permute(order)

    def step(self, forward: Forward, rate: float, name: str, x: Any, y: Any) -> Any:
        kinds = {
            "adam": ("Adam", {}),
            "adamw": ("AdamW", {}),
            "momentum": ("SGD", {"momentum": 0.9}),
        }
        kind, options = kinds[name]
        update = getattr(torch().optim, kind)(self.parameters(), rate, **options)

        def run() -> float:
            loss = self.F.cross_entropy(forward(x), y)
            update.zero_grad()
            loss.backward()
            update.step()
            return float(loss.detach())

        return run

    def begin_as(self, ours: Ours) -> None:
        """Take the parameters of the same layers."""
        for layer, other in zip(self.layers, ours.layers, strict=True):
            turned = type(layer).__name__ == "Linear"
            trained = [p for p in other.parameters() if not p.stop_gradient]
            for p, q in zip(layer.parameters(), trained, strict=True):
                value = q.numpy()
                p.data = torch().tensor(value.T.copy() if turned and value.ndim == 2 else value)


def lenet(kit: Any) -> Forward:
    """Two convolutions of 20 and 50 filters 5 x 5, a layer of 500."""
    first, second = kit.make("Conv", 1, 20, 5), kit.make("Conv", 20, 50, 5)
    third, last = kit.make("Linear", 800, 500), kit.make("Linear", 500, 10)
    F = kit.F

    def forward(x: Any) -> Any:
        x = F.max_pool2d(F.relu(first(x)), 2, 2)
        x = F.max_pool2d(F.relu(second(x)), 2, 2)
        return last(F.relu(third(x.reshape((x.shape[0], 800)))))

    return forward


def resnet(kit: Any) -> Forward:
    """ResNet-18 for images of 32 x 32, half as wide."""

    def convolved(before: int, after: int, size: int, stride: int = 1) -> Forward:
        options = {"stride": stride, "padding": size // 2, "bias": False}
        convolution = kit.make("Conv", before, after, size, **options)
        norm = kit.make("Norm", after)
        return lambda x: norm(convolution(x))

    first, blocks, before = convolved(3, 32, 3), [], 32
    for n in range(8):
        after = 32 << n // 2
        stride = 2 if after != before else 1
        parts = [convolved(before, after, 3, stride), convolved(after, after, 3)]
        shortcut = [convolved(before, after, 1, stride)] if stride == 2 else []
        blocks.append((*parts, *shortcut))
        before = after
    last, relu = kit.make("Linear", before, 10), kit.F.relu

    def forward(x: Any) -> Any:
        x = relu(first(x))
        for one, two, *shortcut in blocks:
            y = two(relu(one(x)))
            x = relu(y + (shortcut[0](x) if shortcut else x))
        return last(x.mean((2, 3)))

    return forward


def gpt(kit: Any) -> Forward:
    """A decoder of four layers that normalises first."""
    words, d = kit.make("Embedding", WORDS, WIDTH), WIDTH
    mask = kit.tensor(np.triu(np.full((LENGTH, LENGTH), -1e9, np.float32), 1))
    sizes = [("LayerNorm", d), ("Linear", d, 3 * d), ("Linear", d, d)]
    sizes += [("LayerNorm", d), ("Linear", d, 4 * d), ("Linear", 4 * d, d)]
    blocks = [[kit.make(*each) for each in sizes] for _ in range(4)]
    norm, last, F = kit.make("LayerNorm", d), kit.make("Linear", d, WORDS), kit.F

    def attend(packed: Any) -> Any:
        x = packed.reshape((-1, LENGTH, 3, HEADS, d // HEADS))
        x = kit.axes(x, [2, 0, 3, 1, 4])
        weights = F.softmax(kit.matmul(x[0], x[1]) * (d // HEADS) ** -0.5 + mask, -1)
        return kit.axes(weights @ x[2], [0, 2, 1, 3]).reshape((-1, LENGTH, d))

    def forward(tokens: Any) -> Any:
        x = words(tokens)
        for before, project, mix, after, widen, narrow in blocks:
            x = x + mix(attend(project(before(x))))
            x = x + narrow(F.gelu(widen(after(x))))
        return last(norm(x)).reshape((-1, WORDS))

    return forward


def inputs(name: str) -> tuple[Any, Any]:
    """What a network is trained on."""
    rng = np.random.default_rng(0)
    if name == "gpt":
        return rng.integers(0, WORDS, (8, LENGTH)), rng.integers(0, WORDS, 8 * LENGTH)
    shape = (64, 1, 28, 28) if name == "lenet" else (32, 3, 32, 32)
    return rng.standard_normal(shape, np.float32), rng.integers(0, 10, shape[0])


NETWORKS = {
    "lenet": (lenet, "adam", "LeNet 28x28, batch 64, Adam"),
    "resnet": (resnet, "momentum", "ResNet-18 of half width 32x32, batch 32, momentum"),
    "gpt": (gpt, "adamw", "GPT of 4 layers, width 256, length 128, batch 8, AdamW"),
}


def measured(step: Callable[[], float], losses: list[float]) -> Callable[[], float]:
    """The time of a step, whose loss is noted."""

    def timed() -> float:
        start = cpu_time()
        losses.append(step())
        return cpu_time() - start

    return timed


def rows(count: int) -> Iterator[Row]:
    """A training step of each network, on one thread."""
    for name, (build, update, title) in NETWORKS.items():
        with flags(COMPILE="eager", NUM_THREADS=1):
            ours, losses = Ours(), ([], [])
            data = inputs(name)
            forward = build(ours)
            step = ours.step(forward, 1e-3, update, *map(ours.tensor, data))
            what = f"eager, machine code: {title}, step"
            if torch() is None:
                found = spread(rounds({"scull": measured(step, losses[0])}, count)["scull"])
                yield Row(what, "", "torch not installed", f"scull {found.times(1e3).show(' ms')}")
                continue
            theirs = Theirs()
            forward = build(theirs)
            theirs.begin_as(ours)
            other = theirs.step(forward, 1e-3, update, *map(theirs.tensor, data))
            contenders = {"scull": measured(step, losses[0]), "torch": measured(other, losses[1])}
            row = beside(what, "<= 1.25x torch", rounds(contenders, count), unit="ms")
        apart = max(abs(a - b) / abs(b) for a, b in zip(*losses, strict=True))
        said = f"losses within {short(apart)}" + ("" if apart < CLOSE else ", WHICH IS FAR")
        yield Row(row.name, row.asked, row.measured, f"{row.detail}; {said}")
