"""The least values of functions; minima.json has what PaddlePaddle 2.6.2 finds."""

import json
from pathlib import Path

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, DtypeError, UnsupportedError
from scull.incubate.optimizer.functional import minimize_bfgs, minimize_lbfgs

RECORDS = json.loads(
    (Path(__file__).parents[1] / "data/reference/minima.json").read_text(encoding="utf-8")
)
FUNCTIONS = {name: eval(text, {"paddle": paddle}) for name, text in RECORDS.pop("").items()}
METHODS = {"bfgs": minimize_bfgs, "lbfgs": minimize_lbfgs}
KINDS = {"ValueError": ValueError, "NotImplementedError": NotImplementedError}


@pytest.fixture
def static():
    paddle.enable_static()
    yield
    paddle.disable_static()


def called(call):
    dtype = "float64" if "float64" in call else None
    known = FUNCTIONS | METHODS | {"t": lambda values: paddle.to_tensor(values, dtype)}
    return eval(call, known)


@pytest.mark.parametrize("call", RECORDS)
def test_calls_return_or_raise_what_they_do_in_the_reference(call):
    record = RECORDS[call]
    if "raises" in record:
        with pytest.raises(KINDS[record["raises"]]):
            called(call)
        return
    results = called(call)
    assert [x.dtype.name for x in results] == record["dtypes"]
    for i, (x, values) in enumerate(zip(results, record["results"], strict=True)):
        loose = 1e-6 if i < 5 else 1e-3
        assert x.stop_gradient and x.shape == list(np.shape(values))
        assert np.allclose(x.numpy(), values, rtol=loose, atol=loose), (i, x, values)


@pytest.mark.parametrize("method", METHODS)
def test_the_end_of_a_curved_valley_is_found(method):
    for start in ([-1.2, 1.0], [0.0] * 5, [2.0, -3.0, 0.5]):
        x = paddle.to_tensor(start, "float64")
        found = METHODS[method](FUNCTIONS["valley"], x, max_iters=100, dtype="float64")
        assert found[0].item() and np.allclose(found[2], 1.0, atol=1e-6)
        assert x.tolist() == start


@pytest.mark.parametrize("method", METHODS)
def test_the_lowest_point_of_a_quadratic_function_is_found_in_as_many_steps_as_it_has_axes(method):
    draw = np.random.default_rng(7)
    for n in (1, 3, 6):
        root = draw.normal(size=(n, n))
        matrix = paddle.to_tensor(root @ root.T + np.eye(n))
        goal = paddle.to_tensor(draw.normal(size=n))

        def height(x, matrix=matrix, goal=goal):
            return ((x - goal) * paddle.mv(matrix, x - goal)).sum() / 2

        found = METHODS[method](height, paddle.zeros([n], "float64"), dtype="float64")
        assert found[0].item() and np.allclose(found[2], goal, atol=1e-6)


def test_the_estimate_is_the_inverse_of_the_second_derivatives():
    matrix = np.array([[4.0, 1.0], [1.0, 3.0]])
    given = paddle.to_tensor(matrix)
    x = paddle.to_tensor([2.0, -1.0], "float64")
    found = minimize_bfgs(lambda x: (x * paddle.mv(given, x)).sum() / 2, x, dtype="float64")
    assert np.allclose(found[5], np.linalg.inv(matrix), atol=1e-3)


def test_both_methods_walk_the_same_way_while_all_steps_are_remembered():
    x = paddle.to_tensor([-1.2, 1.0], "float64")
    for rounds in (1, 4, 9):
        one, other = (
            f(FUNCTIONS["valley"], x, max_iters=rounds, dtype="float64") for f in METHODS.values()
        )
        assert np.allclose(one[2], other[2]) and one[1].item() == other[1].item()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("estimate", [None, [[2.0, 0.5], [0.5, 1.0]]])
def test_a_program_finds_what_eager_mode_finds(method, estimate):
    start = np.array([-1.2, 1.0])
    given = None if estimate is None else paddle.to_tensor(estimate, "float64")
    options = {"initial_inverse_hessian_estimate": given, "dtype": "float64", "max_iters": 12}
    eager = METHODS[method](FUNCTIONS["valley"], paddle.to_tensor(start), **options)
    eager = [x.numpy() for x in eager]
    paddle.enable_static()
    with paddle.static.program_guard(paddle.static.Program()):
        x = paddle.static.data("x", [2], "float64")
        h = paddle.static.data("h", [2, 2], "float64")
        options["initial_inverse_hessian_estimate"] = None if estimate is None else h
        results = METHODS[method](FUNCTIONS["valley"], x, **options)
        feed = {"x": start, "h": np.array(estimate or np.eye(2))}
        found = paddle.static.Executor().run(feed=feed, fetch_list=list(results))
    paddle.disable_static()
    for value, other in zip(found, eager, strict=True):
        assert value.dtype == other.dtype and value.shape == other.shape
        assert np.allclose(value, other, atol=1e-9)


def test_a_program_refuses_a_matrix_that_is_not_positive_when_it_runs(static):
    with paddle.static.program_guard(paddle.static.Program()):
        x, h = paddle.static.data("x", [2]), paddle.static.data("h", [2, 2])
        results = minimize_bfgs(FUNCTIONS["far"], x, initial_inverse_hessian_estimate=h)
        feed = {"x": np.ones(2, "float32"), "h": np.array([[1.0, 2.0], [2.0, 1.0]], "float32")}
        with pytest.raises(ArgumentError, match="was to hold"):
            paddle.static.Executor().run(feed=feed, fetch_list=[results[2]])


@pytest.mark.parametrize("method", METHODS)
def test_where_the_function_becomes_infinite_on_the_way_nothing_is_moved(method):
    found = METHODS[method](lambda x: (x**8).sum(), paddle.to_tensor([1e4]))
    assert not found[0].item() and found[1].item() == 3 and found[2].tolist() == [1e4]


def test_what_cannot_be_is_said():
    x = paddle.to_tensor([1.0, 2.0])
    with pytest.raises(ArgumentError, match="one axis, not shape"):
        minimize_bfgs(FUNCTIONS["far"], x.reshape([1, 2]))
    with pytest.raises(ArgumentError, match="at least 1, not 0"):
        minimize_lbfgs(FUNCTIONS["far"], x, history_size=0)
    with pytest.raises(DtypeError, match="float32, and `dtype` is float64"):
        minimize_lbfgs(FUNCTIONS["far"], x, dtype="float64")
    with pytest.raises(UnsupportedError, match="hager"):
        minimize_lbfgs(FUNCTIONS["far"], x, line_search_fn="hager")
