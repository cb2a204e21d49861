"""Features of values: their element types and sizes."""

import numpy as np

import scull as paddle
from tests.executor.corpus.case import SHAPE, Case


def scalar(case: Case) -> None:
    """Values without axes."""
    total = paddle.sum(case.pick())
    paddle.increment(total, 2.0) if total.shape == [1] else case.update(total, paddle.ones([]))
    case.keep(case.pick() + total)
    case.keep(case.pick() * paddle.full([], 0.5))


def empty(case: Case) -> None:
    """Values without elements."""
    nothing = paddle.slice(case.pick(), [0], [1], [1])
    case.keep(paddle.concat([nothing * 2.0, case.pick()], axis=0))
    case.keep(case.pick() + paddle.sum(nothing))


def unknown(case: Case) -> None:
    """Sizes that are known only when it runs."""
    given = case.fed(case.array(5, 3), [None, 3])
    size = paddle.shape(given)
    hidden = paddle.tanh(given) + case.parameter(3)
    case.update(hidden, given)
    product = paddle.matmul(hidden, given, transpose_x=True)
    case.keep(paddle.reshape(product, SHAPE), case.pick() + size[0].astype("float32"))


def integer(case: Case) -> None:
    """Whole numbers: counted in the scope, and places of rows."""
    counter = case.persistable(np.array([3], "int64"))
    before = counter * 2
    paddle.increment(counter, 1)
    order = paddle.argsort(case.pick(), axis=0)
    kept = paddle.take_along_axis(case.pick(), order, 0)
    case.keep(kept + (before + counter).astype("float32"))


def boolean(case: Case) -> None:
    """Truth values, by which values are chosen."""
    a, b = case.two()
    larger = paddle.greater_than(a, b)
    either = paddle.logical_or(larger, paddle.less_than(b, paddle.zeros(SHAPE)))
    case.keep(paddle.where(larger, a, b))
    case.keep(either.astype("float32"))


def half(case: Case) -> None:
    """Numbers of few digits."""
    short = case.pick().astype("bfloat16")
    case.keep((paddle.tanh(short) + short).astype("float32"))


def double(case: Case) -> None:
    """Numbers of many digits."""
    exact = case.pick().astype("float64")
    turned = paddle.transpose(exact * 0.5, [1, 0])
    case.keep((exact + turned).astype("float32"))


FEATURES = {
    "0-D": scalar,
    "empty": empty,
    "unknown size": unknown,
    "integer": integer,
    "boolean": boolean,
    "bfloat16": half,
    "float64": double,
}
