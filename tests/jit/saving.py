"""Layers that tests save, and what they ask of them."""

from pathlib import Path

import numpy as np

import scull as paddle
from scull.static import InputSpec

X = np.linspace(-1, 1.5, 15, dtype="float32").reshape(5, 3)
ROWS = [InputSpec([None, 3], "float32", "x")]


def static(function=None, **options):
    return paddle.jit.to_static(function, full_graph=True, **options)


class Network(paddle.nn.Layer):
    """Values that train, that do not, that count, that nobody reads."""

    def __init__(self):
        super().__init__()
        self.first, self.norm = paddle.nn.Linear(3, 4), paddle.nn.BatchNorm1D(4)
        self.drop, self.last = paddle.nn.Dropout(0.5), paddle.nn.Linear(4, 2)
        self.last.bias.stop_gradient = True
        self.register_buffer("scale", paddle.to_tensor([2.0]))
        self.register_buffer("shift", paddle.to_tensor([3.0]), persistable=False)
        self.unused = paddle.nn.Linear(1, 1)

    def forward(self, x, doubled=False):
        hidden = self.drop(self.norm(self.first(x)))
        found = self.last(hidden) * self.scale + self.shift
        return (found * 2.0 if doubled else found), hidden > 0


class Methods(paddle.nn.Layer):
    """Two methods that share a layer, and properties."""

    def __init__(self):
        super().__init__()
        self.shared, self.own = paddle.nn.Linear(3, 2), paddle.nn.Linear(3, 2)

    @paddle.jit.to_static(input_spec=[InputSpec([None, 3])], full_graph=True)
    def forward(self, x):
        return self.shared(x)

    @paddle.jit.to_static(input_spec=[InputSpec([None, 3])], full_graph=True)
    def infer(self, x):
        return self.shared(x) + self.own(x)

    @paddle.jit.to_static(property=True, full_graph=True)
    def rates(self):
        return [0.5, 1.5]


class Pair(paddle.nn.Layer):
    """Two inputs and three results."""

    def __init__(self):
        super().__init__()
        self.one, self.two = paddle.nn.Linear(3, 2), paddle.nn.Linear(3, 2)

    @paddle.jit.to_static(
        input_spec=[InputSpec([None, 3], name="x"), InputSpec([None, 3], name="y")],
        full_graph=True,
    )
    def forward(self, x, y):
        a, b = self.one(x), self.two(y)
        return a, b, (a + b).mean()


def saved(folder: Path) -> list[str]:
    """The files of models in a folder."""
    return sorted(path.name for path in folder.iterdir() if path.name[0] != ".")


def again(layer, folder: Path, *args, **options):
    """`layer` saved and loaded."""
    paddle.jit.save(layer, str(folder / "net"), *args, **options)
    return paddle.jit.load(str(folder / "net"))


def same(a, b) -> None:
    for x, y in zip(*([v] if not isinstance(v, list | tuple) else v for v in (a, b)), strict=True):
        np.testing.assert_allclose(x.numpy(), y.numpy(), atol=1e-6)
