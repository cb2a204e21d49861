"""Tools that look at the numbers a network makes."""

import doctest

import numpy as np
import pytest

import scull as paddle
from scull.amp import debugging
from scull.amp.debugging import DebugMode, TensorCheckerConfig
from scull.errors import ArgumentError, ArgumentTypeError, DtypeError, NumberError, RunError


@pytest.fixture(autouse=True)
def all_is_as_before(monkeypatch):
    monkeypatch.setattr(TensorCheckerConfig, "current_step_id", 0)
    before = paddle.get_flags(["FLAGS_cpu_deterministic", "FLAGS_check_nan_inf_level"])
    yield
    debugging.disable_tensor_checker()
    paddle.set_flags(before)


def is_checking():
    return paddle.get_flags("FLAGS_check_nan_inf")["FLAGS_check_nan_inf"]


def log_of_zero():
    return paddle.log(paddle.zeros([2]))


def test_a_checker_raises_until_it_is_disabled():
    debugging.enable_tensor_checker(TensorCheckerConfig(True))
    with pytest.raises(NumberError, match="op=log"):
        log_of_zero()
    debugging.disable_tensor_checker()
    assert log_of_zero().tolist() == [-np.inf] * 2


def test_a_checker_that_is_not_enabled_checks_nothing():
    debugging.enable_tensor_checker(TensorCheckerConfig(False))
    assert not is_checking()


def test_operators_are_chosen_by_name(capsys):
    for option in ({"checked_op_list": ["exp"]}, {"skipped_op_list": ["log"]}):
        debugging.enable_tensor_checker(TensorCheckerConfig(True, **option))
        log_of_zero()
        with pytest.raises(NumberError, match="op=exp"):
            paddle.exp(paddle.to_tensor([1e9]))
    assert "[PRECISION]" not in capsys.readouterr().out


def test_lines_go_to_a_folder(tmp_path, capsys):
    folder = tmp_path / "lines"
    config = TensorCheckerConfig(True, DebugMode.CHECK_ALL, str(folder), ["elementwise_add"])
    debugging.enable_tensor_checker(config)
    x = paddle.to_tensor([1.0, 2.0])
    paddle.exp(x + x)
    assert "[PRECISION]" not in capsys.readouterr().out
    (file,) = folder.iterdir()
    assert file.read_text().startswith("[PRECISION] in [device=cpu, op=add, tensor=, dtype=fp32]")


def test_steps_outside_the_range_are_not_checked():
    config = TensorCheckerConfig(True, DebugMode.CHECK_NAN_INF, debug_step=[1, 3])
    seen = []
    for _ in range(5):
        debugging.enable_tensor_checker(config)
        seen.append(is_checking())
    assert seen == [False, True, True, False, False]


def test_random_numbers_are_seeded():
    draws = []
    for _ in range(2):
        TensorCheckerConfig(True)
        draws.append((paddle.rand([2]).tolist(), np.random.rand()))
    assert draws[0] == draws[1]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"debug_step": [3, 1]}, ArgumentError),
        ({"debug_step": 5}, ArgumentError),
        ({"checked_op_list": "log"}, ArgumentError),
        ({"skipped_op_list": 1}, ArgumentError),
        ({"debug_mode": 5}, ArgumentTypeError),
    ],
)
def test_a_wrong_configuration_is_refused(options, error):
    with pytest.raises(error, match=next(iter(options))):
        TensorCheckerConfig(False, **options)


def test_one_tensor_is_looked_at_in_both_modes(capsys):
    value = np.array([1.0, 0.0, np.nan, -2.0], "float32")
    mode = DebugMode.CHECK_NAN_INF
    eager = debugging.check_numerics(paddle.to_tensor(value), "op", "x", mode)
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [4])
        asked = debugging.check_numerics(x, "op", "x", mode)
    found = paddle.static.Executor().run(main, feed={"x": value}, fetch_list=list(asked))
    paddle.disable_static()
    for a, b in zip(eager, found, strict=True):
        assert np.array_equal(a.numpy(), b, equal_nan=True)
    assert eager[0].tolist() == [1, 0, 1] and eager[1].tolist()[:2] == [1.0, -2.0]
    assert capsys.readouterr().out.count("op=op, tensor=x, dtype=fp32], numel=4, num_nan=1") == 2
    with pytest.raises(NumberError, match="tensor=x"):
        debugging.check_numerics(paddle.to_tensor(value), "op", "x")
    with pytest.raises(DtypeError, match="floating-point"):
        debugging.check_numerics(paddle.to_tensor([1]), "op", "x")


class Root(paddle.nn.Layer):
    @debugging.check_layer_numerics
    def forward(self, x):
        return paddle.sqrt(x)


def test_a_layer_is_checked_while_it_computes():
    assert Root()(paddle.to_tensor([4.0])).tolist() == [2.0]
    with pytest.raises(NumberError, match="op=sqrt"):
        Root()(paddle.to_tensor([-4.0]))
    assert not is_checking()
    for wrong in ((), (5,)):
        with pytest.raises(RunError, match=r"args|tensor"):
            Root()(*wrong)


def test_operators_are_counted_by_element_type(capsys):
    x = paddle.ones([2])
    with debugging.collect_operator_stats():
        paddle.exp(x)
        paddle.nn.functional.softmax(paddle.exp(x))
        paddle.exp(x.astype("float16"))
        paddle.add(paddle.to_tensor([1]), paddle.to_tensor([2]))
    paddle.exp(x)
    lines = capsys.readouterr().out.splitlines()
    rows = {line.split()[0]: line.split("|")[1:] for line in lines if line.startswith("  ")}
    counts = {name: [int(n) for n in row] for name, row in rows.items()}
    assert counts["exp"] == [1, 0, 2, 0]
    assert counts["softmax"] == [0, 0, 1, 0]
    assert counts["elementwise_add"] == [0, 0, 0, 1]
    assert lines[0].startswith("<---") and len(lines[0]) == 122
    debugging.disable_operator_stats_collection()
    assert capsys.readouterr().out == ""


def counted(compute, capsys):
    capsys.readouterr()
    with debugging.collect_operator_stats():
        compute()
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  ")]
    return {line.split()[0]: [int(n) for n in line.split("|")[1:]] for line in lines}


def test_operators_are_counted_under_the_names_that_programs_show(capsys):
    functional, x = paddle.nn.functional, paddle.ones([1, 4, 6, 6])
    whole = {"reshape2": [0, 0, 1, 0], "elementwise_add": [0, 0, 1, 0]}
    for layer, type in (
        (paddle.nn.Conv2D(4, 2, 3), "conv2d"),
        (paddle.nn.Conv2D(4, 4, 3, groups=4), "depthwise_conv2d"),
        (paddle.nn.Conv2DTranspose(4, 2, 3), "conv2d_transpose"),
    ):
        assert counted(lambda layer=layer: layer(x), capsys) == whole | {type: [0, 0, 1, 0]}
    rows, linear = x.reshape([-1, 4]), paddle.nn.Linear(4, 2)
    both = {"matmul_v2": [0, 0, 1, 0], "elementwise_add": [0, 0, 1, 0]}
    assert counted(lambda: linear(rows), capsys) == both
    found = counted(lambda: functional.linear(rows, linear.weight), capsys)
    assert found == {"matmul_v2": [0, 0, 1, 0]}
    found = counted(lambda: functional.softmax(rows, dtype="float64"), capsys)
    assert found == {"cast": [0, 0, 1, 0], "softmax": [0, 0, 0, 1]}
    labels = paddle.zeros([36], "int64")
    assert "mean_cross_entropy" not in counted(
        lambda: functional.cross_entropy(rows, labels), capsys
    )
    with paddle.amp.auto_cast(level="O2", dtype="bfloat16"):
        assert counted(lambda: linear(rows), capsys)["matmul_v2"] == [0, 1, 0, 0]


def test_a_checker_tells_the_seed_that_was_set(capsys):
    paddle.seed(77)
    assert debugging.TensorCheckerConfig(True).seed == 77
    assert "seed  77" in capsys.readouterr().out
    paddle.seed(2**40)
    assert debugging.TensorCheckerConfig(True).seed == 123


def test_the_examples_run():
    results = doctest.testmod(debugging)
    assert results.attempted > 0
    assert results.failed == 0
