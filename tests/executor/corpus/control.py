"""Features of control flow: blocks that run or not, or again and again, and lists that grow."""

import numpy as np

import scull as paddle
from tests.executor.corpus.case import SHAPE, Case


def cond(case: Case) -> None:
    """One of two blocks, which read what is outside; one of them writes over something."""
    a, b = case.two()
    weight = case.parameter(*SHAPE)
    found = paddle.static.nn.cond(
        paddle.sum(a) > 0.5,
        lambda: paddle.tanh(paddle.matmul(a, weight)) + b,
        lambda: paddle.transpose(b, [1, 0]) * weight,
    )
    case.trained.append(found)
    case.keep(found * 0.5)
    counter = case.persistable(np.array([1], "int64"))

    def counted() -> object:
        paddle.increment(counter, 1)
        return a * counter.astype("float32")

    case.keep(paddle.static.nn.cond(paddle.sum(found) < 1.0, counted, lambda: a - b))


def while_loop(case: Case) -> None:
    """A block that runs as often as what is fed says, on values that are written over in it."""
    source = case.pick()
    times = case.fed_or_made(np.array([3], "int64"))
    weight = case.parameter(*SHAPE)
    start = [paddle.zeros([1], "int64"), paddle.matmul(source, weight)]
    _, found = paddle.static.nn.while_loop(
        lambda i, v: i < times,
        lambda i, v: [i + 1, paddle.tanh(paddle.matmul(v, weight) + source)],
        start,
    )
    case.trained.append(found)
    case.keep(found * 0.5)


def array(case: Case) -> None:
    """A list of values: written, written over at a place, read, and measured."""
    first, second = case.two()
    places = [paddle.full([1], i, "int64") for i in range(2)]
    values = paddle.tensor.array_write(first, places[0])
    paddle.tensor.array_write(second, places[1], array=values)
    case.keep(paddle.tensor.array_read(values, places[0]) * 0.5)
    paddle.tensor.array_write(case.pick(), places[0], array=values)
    length = paddle.tensor.array_length(values)
    case.keep(paddle.tensor.array_read(values, places[0]) + length.astype("float32"))


def nested(case: Case) -> None:
    """A choice within a loop, of which one block draws numbers."""
    source = case.pick()

    def step(i: object, v: object) -> list[object]:
        even = paddle.equal(i % 2, paddle.zeros([1], "int64"))
        chosen = paddle.static.nn.cond(even, lambda: v + paddle.uniform(SHAPE), lambda: v * source)
        return [i + 1, chosen]

    start = [paddle.zeros([1], "int64"), paddle.scale(source, 0.5)]
    limit = paddle.full([1], 4, "int64")
    _, found = paddle.static.nn.while_loop(lambda i, v: i < limit, step, start)
    case.keep(found)


FEATURES = {"cond": cond, "while": while_loop, "array": array, "cond in while": nested}
