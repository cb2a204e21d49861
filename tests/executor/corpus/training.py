"""Features of training: gradients, some of them rows, and updates of every kind."""

from collections.abc import Callable
from typing import Any

import numpy as np

import scull as paddle
from tests.executor.corpus.case import SHAPE, Case

OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "SGD": lambda: paddle.optimizer.SGD(0.1),
    "SGD with clipped gradients": lambda: paddle.optimizer.SGD(
        0.1, grad_clip=paddle.nn.ClipGradByGlobalNorm(0.5)
    ),
    "SGD with decay": lambda: paddle.optimizer.SGD(
        0.1, weight_decay=paddle.regularizer.L2Decay(0.1)
    ),
    "SGD with a schedule": lambda: paddle.optimizer.SGD(
        paddle.optimizer.lr.StepDecay(0.1, step_size=2)
    ),
    "Momentum": lambda: paddle.optimizer.Momentum(0.1, use_nesterov=True),
    "Adagrad": lambda: paddle.optimizer.Adagrad(0.1),
    "RMSProp": lambda: paddle.optimizer.RMSProp(0.1, centered=True),
    "Adadelta": lambda: paddle.optimizer.Adadelta(0.1),
    "Adam": lambda: paddle.optimizer.Adam(0.1),
    "Adam of rows alone": lambda: paddle.optimizer.Adam(0.1, lazy_mode=True),
    "AdamW": lambda: paddle.optimizer.AdamW(0.1),
    "Adamax": lambda: paddle.optimizer.Adamax(0.1),
    "Lamb": lambda: paddle.optimizer.Lamb(0.1),
}


def training(case: Case) -> None:
    """A step of some optimizer, for all parameters of features before it and two of its own."""
    hidden = paddle.matmul(cut(case), case.parameter(*SHAPE)) + case.parameter(3)
    losses = [paddle.mean(paddle.square(v)) for v in (paddle.tanh(hidden), *case.trained)]
    loss = paddle.add_n(losses)
    OPTIMIZERS[case.optimizer]().minimize(loss)
    case.fetches.append(loss)
    case.keep(hidden * 2.0)


def cut(case: Case) -> Any:
    """A value made before, through which no gradient goes."""
    value = paddle.tanh(case.pick())
    value.stop_gradient = True
    return value


def rows(case: Case) -> None:
    """Rows of a table; its gradient holds those rows alone."""
    table = case.parameter(5, 3)
    numbers = case.fed_or_made(np.array([1, 3, 1], "int64"))
    found = paddle.nn.functional.embedding(numbers, table, sparse=True)
    case.trained.append(found)
    case.keep(found * 0.5)


def rows_updated(case: Case) -> None:
    """A table of the scope, written over by a gradient that holds some rows."""
    table = case.parameter(5, 3)
    numbers = case.fed_or_made(np.array([0, 4, 0], "int64"))
    found = paddle.nn.functional.embedding(numbers, table, sparse=True)
    (gradient,) = paddle.static.gradients([paddle.sum(found * cut(case))], [table])
    case.update(table, gradient)
    case.keep(paddle.nn.functional.embedding(numbers, table, sparse=True))


def gradients(case: Case) -> None:
    """Gradients of a value, through views and sums, without an update."""
    source = cut(case)
    source.stop_gradient = False
    hidden = paddle.reshape(source, [9]) * 2.0
    out = paddle.sum(paddle.reshape(hidden, SHAPE) * source + source)
    case.keep(*paddle.static.gradients([out], [source]))


FEATURES = {
    "training": training,
    "rows": rows,
    "rows updated": rows_updated,
    "gradient": gradients,
}
