"""Programs that are built by operators: each function gives the inputs' values and the results."""

import numpy as np

from tests.files.saved.framework import functional, paddle, static
from tests.files.saved.values import integers, uniform


def given(name, shape, dtype="float32"):
    """An input with its first dimension free, and its value."""
    array = uniform(name, shape).astype(dtype)
    return static.data(name, [None, *shape[1:]], dtype), array


def perceptron():
    x, array = given("x", (3, 6))
    hidden = static.nn.fc(x, 8, activation="relu")
    return [x], [array], [static.nn.fc(hidden, 3, activation="softmax"), hidden]


def convolved():
    x, array = given("image", (2, 3, 8, 8))
    y = static.nn.conv2d(x, 4, 3, padding=1, act="relu")
    y = static.nn.batch_norm(y, is_test=True)
    y = functional.dropout(y, 0.5, training=False)
    return [x], [array], [static.nn.fc(y, 5)]


def embedded():
    ids = static.data("ids", [None, 4], "int64")
    y = static.nn.embedding(ids, [12, 5], is_sparse=True)
    return [ids], [integers("ids", (3, 4), 12)], [y, paddle.mean(y, axis=1)]


def branched():
    x, array = given("x", (2, 3))
    mean = paddle.mean(x)
    high, low = static.nn.cond(mean > 0.5, lambda: (x * 2, x), lambda: (x - 1, x + mean))
    return [x], [array], [high, low]


def looped():
    x, array = given("x", (2, 3))
    limit = static.data("limit", [1], "int64")
    start = [paddle.full([1], 0, "int64"), x]

    def body(i, total):
        return [i + 1, paddle.tanh(total) + x]

    count, total = static.nn.while_loop(lambda i, _: paddle.less_than(i, limit), body, start)
    return [x, limit], [array, np.array([4])], [count, total]


def cases():
    x, array = given("x", (2, 3))
    which = static.data("which", [1], "int32")
    first = static.nn.switch_case(which, {0: lambda: x, 2: lambda: x * 3}, lambda: x - 1)
    mean = paddle.mean(x)
    pairs = [(mean > 10, lambda: x + 1), (mean > -10, lambda: x * x)]
    return [x, which], [array, np.int32([2])], [first, static.nn.case(pairs, lambda: x)]


def nothing_learned():
    x, array = given("x", (2, 4))
    y = paddle.transpose(paddle.reshape(x, [-1, 2, 2]), [0, 2, 1])
    return [x], [array], [y, paddle.cast(y, "int32"), paddle.shape(y)]


CASES = (perceptron, convolved, embedded, branched, looped, cases, nothing_learned)
