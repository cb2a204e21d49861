"""NaN and infinity are found where they arise, and nothing is asked of operators otherwise."""

import subprocess
import sys

import numpy as np
import pytest

import scull as paddle
from scull.core import check
from scull.core.eager import EAGER, SILENT, Eager
from scull.core.interpreter import modes
from scull.core.timeline import filling
from scull.errors import NumberError

nan, inf = float("nan"), float("inf")


@pytest.fixture(autouse=True)
def nothing_is_checked_afterwards():
    yield
    paddle.set_flags({"FLAGS_check_nan_inf": False, "FLAGS_check_nan_inf_level": 0})
    assert not modes and EAGER.plain and EAGER.apply.__func__ is Eager.apply
    assert not vars(SILENT).keys() & {"apply", "plain"}


def checking(level=0):
    paddle.set_flags({"FLAGS_check_nan_inf": True, "FLAGS_check_nan_inf_level": level})


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_statistics_count_and_leave_nan_out_of_the_extremes(dtype):
    found = check.statistics(np.array([0, nan, -inf, 3, 1, 0], dtype))
    assert found[:4] == (6, 1, 1, 2)
    assert (found.largest, found.least, found.finite) == (3, -inf, (0, 3, 1))
    assert np.isnan(found.mean)


def test_statistics_of_bfloat16_complex_and_empty_arrays():
    halves = paddle.to_tensor([1.0, inf]).astype("bfloat16").array
    assert check.statistics(halves)[:4] == (2, 0, 1, 0)
    assert check.statistics(np.array([3 + 4j, complex(nan, 0)])).finite == (5, 5, 5)
    assert check.statistics(np.zeros((0, 2)))[:4] == (0, 0, 0, 0)


def test_the_first_operator_is_named_with_its_operands_and_the_users_line():
    checking()
    x = paddle.to_tensor([1.0, 0.0, -1.0])
    with pytest.raises(NumberError, match=r"num_nan=1, num_inf=1, num_zero=1") as caught:
        paddle.tanh(paddle.log(x))
    assert isinstance(caught.value, RuntimeError)
    assert "op=log" in str(caught.value) and "finite are 1 of 3: from 0 to 0" in str(caught.value)
    note = str(caught.value)
    assert "\nin log\n  x: float32[3]\n" in note and "test_check.py" in note


def test_of_an_operator_made_of_others_the_part_is_named():
    checking()
    x = paddle.to_tensor([-1.0, 1.0], stop_gradient=False)
    with pytest.raises(NumberError, match="op=sqrt"):
        paddle.nn.functional.relu(paddle.sqrt(x) + 1.0)


def test_gradients_are_checked_too():
    checking()
    x = paddle.to_tensor([0.0, 1.0], stop_gradient=False)
    y = paddle.sqrt(x).sum()
    with pytest.raises(NumberError, match="op=sqrt_grad"):
        y.backward()
    z = paddle.sqrt(x)
    with pytest.raises(NumberError, match="num_inf=1"):
        paddle.grad(z, x, create_graph=True)


def test_integers_and_finite_numbers_pass():
    checking()
    assert (paddle.to_tensor([1, 0]) * 2).tolist() == [2, 0]
    assert paddle.exp(paddle.zeros([2])).tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("level", "value", "words"),
    [
        (1, 0.0, "[PRECISION] [ERROR] in [device=cpu, op=log, tensor=, dtype=fp32], numel=1, "),
        (1, 1.0, ""),
        (2, 0.0, "[PRECISION] [ERROR]"),
        (2, 1.0, ""),
        (3, 1.0, "[PRECISION] in [device=cpu, op=log, tensor=, dtype=fp32], numel=1, num_zero=1"),
    ],
)
def test_higher_levels_print_and_go_on(capsys, level, value, words):
    checking(level)
    paddle.log(paddle.to_tensor([value]))
    printed = capsys.readouterr().out
    assert printed.startswith(words) and bool(printed) == bool(words)


def test_level_2_reports_what_float16_cannot_hold(capsys):
    checking(2)
    for value in (7e4, -7e4, 1.0, 1e-9):
        paddle.tanh(paddle.to_tensor([value]) * 1.0)
    assert capsys.readouterr().out.count("op=multiply") == 2


def test_a_program_names_the_variable_and_prints_on_higher_levels(capsys):
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        y = paddle.tanh(paddle.log(paddle.static.data("x", [2])))
    exe, feed = paddle.static.Executor(), {"x": np.array([0, -1], "float32")}
    try:
        exe.run(main, feed=feed, fetch_list=[y])
        checking()
        with pytest.raises(NumberError, match=r"op=log, tensor=log_\d+\.tmp_0") as caught:
            exe.run(main, feed=feed, fetch_list=[y])
        assert "test_check.py" in str(caught.value)
        checking(1)
        found = exe.run(main, feed=feed, fetch_list=[y])[0]
    finally:
        paddle.disable_static()
    assert found[0] == -1 and np.isnan(found[1])
    assert [line.count("op=") for line in capsys.readouterr().out.splitlines()] == [1, 1]


def test_checks_and_timelines_stand_around_the_same_operators():
    with filling() as timeline:
        checking()
        with pytest.raises(NumberError, match="op=log"):
            paddle.log(paddle.zeros([1]))
        paddle.set_flags({"FLAGS_check_nan_inf": False})
        paddle.log(paddle.zeros([1]))
    names = [s.name for track in timeline.tracks for s in track.spans]
    assert names.count("log") == 2


def test_the_environment_switches_checks_on():
    code = "import scull as s; s.log(s.zeros([1]))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"FLAGS_check_nan_inf": "1", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1 and "There are NAN or INF" in done.stderr
