"""Whatever a static function does at once, it does as in eager mode: cases drawn by number.

Gradients of gradients, hooks on parameters and captured tensors, buffers that training updates,
dropout, recursion, calls before one backward pass, and calls from eight threads.
"""

import itertools
import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import scull as paddle

PARTS = ("dropout", "normal", "counted", "outside", "recursive", "closure", "branch")
ACTIONS = (
    "train", "eval", "backward", "twice", "double", "silent", "hook", "grown", "frozen", "threads"
)  # fmt: skip
CASES = {"whole": 12, "pieces": 8}  # twenty times as many at night


class Net(paddle.nn.Layer):
    """A network with some of the parts, and a tensor from outside."""

    def __init__(self, parts, outside):
        super().__init__()
        self.parts, self.outside = parts, outside
        self.first, self.last = paddle.nn.Linear(4, 4), paddle.nn.Linear(4, 3)
        self.dropout, self.normal = paddle.nn.Dropout(0.4), paddle.nn.BatchNorm1D(4)
        self.register_buffer("count", paddle.zeros([1]))

    def powers(self, x, depth):
        """`x` after as many layers, one within the other."""
        if depth == 0:
            return x
        return paddle.tanh(self.powers(self.first(x), depth - 1)) + x

    def forward(self, x):
        x = self.powers(x, 2) if "recursive" in self.parts else self.first(x)
        if "normal" in self.parts:
            x = self.normal(x)
        if "dropout" in self.parts:
            x = self.dropout(x)
        if "outside" in self.parts:
            x = x * self.outside
        if "branch" in self.parts:
            x = x * 2 if x.sum() > 0 else x.sin()
        if "counted" in self.parts and self.training:
            self.count = self.count + x.detach().abs().mean()
        return self.last(paddle.tanh(x))


class Case:
    """One network and the calls made of it, in eager mode or static."""

    def __init__(self, number, how):
        draw = random.Random(number)
        paddle.seed(number)
        parts = draw.sample(PARTS, draw.randint(2, 5))
        self.actions = draw.choices(ACTIONS, k=8)
        self.outside = paddle.to_tensor([0.5, -1.0, 2.0, 1.5], stop_gradient=False)
        self.net = net = Net(parts, self.outside)
        self.function = (lambda x: net(x)) if "closure" in parts else net
        if how != "eager":
            whole = how == "whole"
            self.function = paddle.jit.to_static(self.function, full_graph=whole)
        self.numbers = itertools.count(number)
        self.found, self.hooks = [], 0

    def input(self, rows=3):
        """A new input, the same in every way of running."""
        values = np.random.RandomState(next(self.numbers) % 2**31).randn(rows, 4)
        return paddle.to_tensor(values, stop_gradient=False)

    def note(self, *tensors):
        """Keep what came of an action."""
        self.found.extend(None if t is None else t.numpy().copy() for t in tensors)

    def settle(self, *inputs):
        """Keep all gradients and buffers, and forget the gradients."""
        leaves = [*self.net.parameters(), self.outside]
        self.note(*(t.grad for t in (*leaves, *inputs)), *self.net.buffers())
        for t in leaves:
            t.clear_gradient()

    def run(self):
        """What all actions give."""
        for action in self.actions:
            getattr(self, action)()
        return self.found

    def train(self):
        self.net.train()

    def eval(self):
        self.net.eval()

    def backward(self):
        x = self.input()
        y = self.function(x)
        (y * y).mean().backward()
        self.note(y)
        self.settle(x)

    def twice(self):
        x, z = self.input(), self.input(5)
        a, b = self.function(x), self.function(z)
        c = self.function(x)
        (a.sum() + (b * b).sum() - c.mean()).backward()
        self.note(a, b, c)
        self.settle(x, z)

    def double(self):
        x = self.input()
        (g,) = paddle.grad((self.function(x) ** 2).sum(), [x], create_graph=True)
        (g * g).sum().backward()
        self.note(g)
        self.settle(x)

    def silent(self):
        with paddle.no_grad():
            self.note(*(self.function(self.input(2)) for _ in range(3)))

    def hook(self):
        for t in (self.net.first.weight, self.outside):
            t.register_hook(self.hooked)

    def hooked(self, g):
        self.hooks += 1
        return g * 1.5

    def grown(self):
        x = self.input(7)
        self.note(self.function(x.detach()), self.function(x))

    def frozen(self):
        bias = self.net.last.bias
        bias.stop_gradient = not bias.stop_gradient

    def threads(self):
        training = self.net.training
        self.net.eval()
        inputs = [self.input(2 + i % 3) for i in range(8)]

        def gradient(x):
            y = self.function(x)
            return [y, *paddle.grad((y * y).sum(), [x])]

        with ThreadPoolExecutor(8) as pool:
            for found in pool.map(gradient, inputs):
                self.note(*found)
        if training:
            self.net.train()


@pytest.fixture(autouse=True)
def double_precision():
    paddle.set_default_dtype("float64")
    yield
    paddle.set_default_dtype("float32")


@pytest.mark.parametrize("how", CASES)
@pytest.mark.filterwarnings("ignore:.*(is no one Program|was recorded)")
def test_all_at_once_is_what_it_is_in_eager_mode(how, request):
    count = CASES[how] * (20 if request.config.getoption("--nightly") else 1)
    for number in range(count):
        eager, static = Case(number, "eager"), Case(number, how)
        paddle.seed(number)
        expected = eager.run()
        paddle.seed(number)
        found = static.run()
        text = f"case {number}: {eager.net.parts}, {eager.actions}"
        assert eager.hooks == static.hooks, text
        assert [v is None for v in expected] == [v is None for v in found], text
        for a, b in zip(expected, found, strict=True):
            if a is not None:
                np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11, err_msg=text)
