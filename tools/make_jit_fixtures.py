"""Write tests/data/jit: models that the reference saves by `jit.save`, and what they compute.

Run with the Python that has the reference installed, and PYTHONHASHSEED=0. Each model has an
`.npz` beside it: what it takes (`in_0`, ...), what it gives (`out_0`, ...), of every method, and
what its values are after three steps of training.
"""

from pathlib import Path

import numpy as np
import paddle
from paddle import nn
from paddle.base.proto import framework_pb2
from paddle.static import InputSpec

TARGET = Path(__file__).parents[1] / "tests" / "data" / "jit"


class Network(nn.Layer):
    """Values that train, that do not, that count; and results that are truth values."""

    def __init__(self):
        super().__init__()
        self.first, self.norm, self.drop = nn.Linear(3, 4), nn.BatchNorm1D(4), nn.Dropout(0.5)
        self.last = nn.Linear(4, 2)
        self.last.bias.stop_gradient = True
        self.register_buffer("scale", paddle.to_tensor([2.0]))
        self.register_buffer("shift", paddle.to_tensor([3.0]), persistable=False)

    def forward(self, x):
        hidden = self.drop(self.norm(self.first(x)))
        return self.last(hidden) * self.scale + self.shift, hidden > 0


class Tuned(nn.Layer):
    """A network without chance, to be trained further."""

    def __init__(self):
        super().__init__()
        self.first, self.norm, self.last = nn.Linear(3, 4), nn.BatchNorm1D(4), nn.Linear(4, 2)

    def forward(self, x):
        return self.last(nn.functional.relu(self.norm(self.first(x))))


class Flow(nn.Layer):
    """A loop with a branch in it."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 3)

    def forward(self, x, n):
        i = paddle.zeros([1], "int64")
        while i < n:
            if paddle.sum(x) > 0:
                x = self.a(x)
            else:
                x = self.b(x) - 1.0
            i = i + 1
        return x


class Methods(nn.Layer):
    """Two methods that share a layer, and properties."""

    def __init__(self):
        super().__init__()
        self.shared, self.own = nn.Linear(3, 2), nn.Linear(3, 2)

    @paddle.jit.to_static(input_spec=[InputSpec([None, 3])], full_graph=True)
    def forward(self, x):
        return self.shared(x)

    @paddle.jit.to_static(input_spec=[InputSpec([None, 3])], full_graph=True)
    def infer(self, x):
        return self.shared(x) + self.own(x)


class One(nn.Layer):
    """One method, and properties of each kind."""

    @paddle.jit.to_static(input_spec=[InputSpec([None, 2], name="x")], full_graph=True)
    def forward(self, x):
        return {"second": x * 2, "first": [x + 1, x]}

    @paddle.jit.to_static(property=True, full_graph=True)
    def rate(self):
        return 0.5

    @paddle.jit.to_static(property=True, full_graph=True)
    def sizes(self):
        return [3, -4]

    @paddle.jit.to_static(property=True, full_graph=True)
    def words(self):
        return ["a", "b"]


class Words(nn.Layer):
    """Integers in, a recurrent network with unknown sizes."""

    def __init__(self):
        super().__init__()
        self.table, self.reader = nn.Embedding(10, 4), nn.LSTM(4, 3)

    def forward(self, words):
        return self.reader(self.table(words))[0]


@paddle.jit.to_static(full_graph=True)
def flatter(x):
    return paddle.tanh(x)


def spread(*shape):
    return np.linspace(-1, 1.5, int(np.prod(shape)), dtype="float32").reshape(shape)


def flattened(value):
    return [v.numpy() for v in paddle.utils.flatten(value)]


def write(name, layer, specs, inputs, methods=("forward",), **options):
    """Save a layer in eval mode with what it computes."""
    known = {f"in_{i}": x for i, x in enumerate(inputs)}
    layer.eval()
    for method in methods:
        found = flattened(getattr(layer, method)(*map(paddle.to_tensor, inputs)))
        known |= {f"{method}_out_{i}": v for i, v in enumerate(found)}
    layer.train()
    paddle.jit.save(layer, str(TARGET / name), specs, **options)
    np.savez(TARGET / f"{name}.npz", **known, **trained(layer, inputs, name == "tuned"))


def trained(layer, inputs, wanted):
    """The values after three steps that lower the mean of the squares of the results."""
    if not wanted:
        return {}
    optimizer = paddle.optimizer.Momentum(0.1, parameters=layer.parameters())
    for _ in range(3):
        (layer(*map(paddle.to_tensor, inputs)) ** 2).mean().backward()
        optimizer.step()
        optimizer.clear_grad()
    return {f"after_{name}": v.numpy() for name, v in layer.state_dict().items()}


def main():
    paddle.seed(7)
    TARGET.mkdir(exist_ok=True)
    x = spread(5, 3)
    network = Network()
    for _ in range(3):
        network(paddle.to_tensor(x))
    write("network", network, [InputSpec([None, 3])], [x])
    write("tuned", Tuned(), [InputSpec([None, 3], name="x")], [x])
    specs = [InputSpec([None, 3]), InputSpec([1], "int64")]
    write("flow", Flow(), specs, [x, np.array([3], "int64")])
    write("methods", Methods(), None, [x], ("forward", "infer"))
    write("properties", One(), None, [spread(2, 2)], combine_params=True)
    words = np.array([[1, 2, 3], [9, 0, 4]], "int64")
    write("words", Words(), [InputSpec([None, None], "int64", "words")], [words])
    flatter(paddle.to_tensor(x))
    paddle.jit.save(flatter, str(TARGET / "function"))
    np.savez(TARGET / "function.npz", in_0=x, forward_out_0=np.tanh(x))
    for path in TARGET.glob("*.pdmodel"):
        forget_lines(path)


def forget_lines(path):
    """Take out where the operators of a Program were made."""
    program = framework_pb2.ProgramDesc.FromString(path.read_bytes())
    for operator in (o for block in program.blocks for o in block.ops):
        kept = [a for a in operator.attrs if a.name != "op_callstack"]
        del operator.attrs[:]
        operator.attrs.extend(kept)
    path.write_bytes(program.SerializeToString())


if __name__ == "__main__":
    main()
