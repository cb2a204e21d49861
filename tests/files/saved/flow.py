"""Layers whose Python decides: branches, loops and lists in the Programs they become."""

import numpy as np

from tests.files.saved.framework import InputSpec, nn, paddle
from tests.files.saved.values import uniform


class Chosen(nn.Layer):
    """One of two layers, by what goes in."""

    def __init__(self):
        super().__init__()
        self.low, self.high = nn.Linear(3, 3), nn.Linear(3, 3)

    def forward(self, x):
        if x.mean() > 0:
            y = self.high(x)
        else:
            y = self.low(x) - 1
        return y


class Repeated(nn.Layer):
    """A layer applied until the result is small."""

    def __init__(self):
        super().__init__()
        self.step = nn.Linear(3, 3)

    def forward(self, x):
        rounds = paddle.zeros([1], "int64")
        while (x**2).sum() > 0.05 and rounds < 20:
            x = paddle.tanh(self.step(x)) * 0.7
            rounds += 1
        return x, rounds


class Nested(nn.Layer):
    """A branch in a loop in a branch."""

    def forward(self, x, n):
        total = paddle.zeros_like(x)
        if n > 1:
            for i in range(n):
                if i % 2 == 0:
                    total = total + x
                else:
                    total = total * 0.5
        else:
            total = x - 3.0
        return total


class Collected(nn.Layer):
    """A list that a loop fills."""

    def forward(self, x, n):
        rows = []
        for i in range(n):
            rows.append(x * (i + 1))
        return paddle.concat(rows)


class Stopped(nn.Layer):
    """A loop with `break` and `continue`, and a way out of it."""

    def forward(self, x):
        total, i = paddle.zeros([1]), paddle.zeros([1], "int64")
        while i < 6:
            i = i + 1
            if x[i - 1] < 0:
                continue
            total = total + x[i - 1]
            if total > 1.0:
                break
        if total < 0.1:
            return total
        return total * 2


def chosen_high():
    return Chosen(), [InputSpec([None, 3], "float32", "x")], [uniform("high", (2, 3), 0, 1)]


def chosen_low():
    return Chosen(), [InputSpec([None, 3], "float32", "x")], [uniform("low", (2, 3), -1, 0)]


def repeated():
    return Repeated(), [InputSpec([2, 3], "float32", "x")], [uniform("repeated", (2, 3))]


def nested():
    specs = [InputSpec([2, 3], "float32", "x"), InputSpec([1], "int64", "n")]
    return Nested(), specs, [uniform("nested", (2, 3)), np.array([5])]


def collected():
    specs = [InputSpec([2, 3], "float32", "x"), InputSpec([1], "int64", "n")]
    return Collected(), specs, [uniform("collected", (2, 3)), np.array([4])]


def stopped():
    return Stopped(), [InputSpec([6], "float32", "x")], [uniform("stopped", (6,))]


CASES = (chosen_high, chosen_low, repeated, nested, collected, stopped)
