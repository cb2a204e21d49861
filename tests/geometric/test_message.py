"""Graphs and decoding: the examples, gradients in both modes, refusals."""

import doctest
import importlib

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError

ROWS = np.array([[1.0, 5.0], [3.0, 3.0], [3.0, 1.0], [0.0, 2.0]], "float32")
EDGES = np.array([0, 1, 2, 0]), np.array([1, 2, 2, 0])


@pytest.mark.parametrize(
    "name",
    [
        "scull.amp.grad_scaler",
        "scull.geometric.message",
        "scull.geometric.neighbor",
        "scull.geometric.reindex",
        "scull.geometric.segment",
        "scull.incubate.graph",
        "scull.incubate.optimizer.lars",
        "scull.incubate.optimizer.lookahead",
        "scull.incubate.optimizer.model_average",
        "scull.static.calling",
        "scull.static.metric",
        "scull.static.nn.control_flow",
        "scull.tensor.fill",
        "scull.text.decoding",
    ],
)
def test_the_examples_print_what_they_say(name):
    results = doctest.testmod(importlib.import_module(name))
    assert results.attempted
    assert not results.failed


def test_of_equal_greatest_rows_each_has_the_whole_gradient():
    x = paddle.to_tensor(ROWS, stop_gradient=False)
    found = paddle.geometric.segment_max(x, paddle.to_tensor([0, 1, 1, 3]))
    weights = paddle.to_tensor(np.arange(1, 9, dtype="float32").reshape(4, 2))
    (found * weights).sum().backward()
    assert found.tolist() == [[1, 5], [3, 3], [0, 0], [0, 2]]
    assert x.grad.tolist() == [[1, 2], [3, 4], [3, 0], [7, 8]]


@pytest.mark.parametrize("message", ["add", "sub", "mul", "div"])
@pytest.mark.parametrize("reduction", ["sum", "mean", "max", "min"])
def test_a_program_gives_what_eager_mode_gives(message, reduction):
    given = {"x": ROWS, "y": np.array([[2.0], [3.0], [1.0], [4.0]], "float32")}
    x, y = (paddle.to_tensor(v, stop_gradient=False) for v in given.values())
    edges = [paddle.to_tensor(e) for e in EDGES]
    out = paddle.geometric.send_ue_recv(x, y, *edges, message, reduction)
    out.sum().backward()
    paddle.enable_static()
    with paddle.static.program_guard(paddle.static.Program()):
        data = [paddle.static.data(n, list(v.shape)) for n, v in given.items()]
        for v in data:
            v.stop_gradient = False
        ends = [paddle.static.data(n, [4], "int64") for n in ("src", "dst")]
        made = paddle.geometric.send_ue_recv(*data, *ends, message, reduction)
        fetches = [made, *paddle.static.gradients(made, data)]
        feed = given | dict(zip(("src", "dst"), EDGES, strict=True))
        found = paddle.static.Executor().run(feed=feed, fetch_list=fetches)
    paddle.disable_static()
    for value, expected in zip(found, (out, x.grad, y.grad), strict=True):
        assert np.array_equal(value, expected.numpy())


def test_unknown_words_are_named():
    x, edges = paddle.to_tensor(ROWS), [paddle.to_tensor(e) for e in EDGES]
    with pytest.raises(ArgumentError, match="`reduce_op` is 'prod', not sum, mean, max, min"):
        paddle.geometric.send_u_recv(x, *edges, "prod")
    with pytest.raises(ArgumentError, match="`message_op` is 'pow'"):
        paddle.geometric.send_uv(x, x, *edges, "pow")


@pytest.mark.parametrize("reduction", ["sum", "mean", "max", "min"])
def test_large_groups_of_rows_give_what_small_ones_give(reduction):
    x = np.random.default_rng(0).normal(size=(9, 1500)).astype("float32")
    groups, reduced = np.array([0, 0, 0, 2, 2, 2, 2, 2, 2]), getattr(np, reduction)
    found = getattr(paddle.geometric, f"segment_{reduction}")(
        paddle.to_tensor(x), paddle.to_tensor(groups)
    ).numpy()
    for group, rows in (0, x[:3]), (2, x[3:]):
        np.testing.assert_allclose(found[group], reduced(rows, 0), rtol=1e-5, atol=1e-6)
    assert not found[1].any()
