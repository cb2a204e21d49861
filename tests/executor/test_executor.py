"""Running Programs: feed, fetch, scopes, mistakes."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import (
    FeedError,
    FetchError,
    NumberError,
    ShapeError,
    UninitializedError,
    UnknownOpError,
)
from scull.flags import flags


@pytest.fixture(autouse=True)
def static():
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    scope = paddle.static.Scope()
    with (
        paddle.utils.unique_name.guard(),
        paddle.static.program_guard(main, startup),
        paddle.static.scope_guard(scope),
    ):
        yield
    paddle.disable_static()


def run(*arguments, **options):
    return paddle.static.Executor().run(*arguments, **options)


def ready():
    x = paddle.static.data("x", [None, 3])
    layer = paddle.nn.Linear(3, 2)
    out = layer(x)
    run(paddle.static.default_startup_program())
    return x, layer, out


def test_fetched_values_come_in_the_order_asked_also_twice():
    x, _, out = ready()
    value = np.ones((1, 3), "float32")
    a, b, c = run(feed={"x": value}, fetch_list=[out, x, out.name])
    assert np.array_equal(a, c)
    assert np.array_equal(b, value)


def test_a_fetched_parameter_is_a_copy():
    _, layer, _ = ready()
    (before,) = run(feed={"x": np.ones((1, 3), "float32")}, fetch_list=[layer.weight])
    before[...] = 7
    (after,) = run(feed={"x": np.ones((1, 3), "float32")}, fetch_list=[layer.weight])
    assert not np.array_equal(before, after)


def test_a_fed_array_is_never_written():
    x = paddle.static.data("x", [1])
    block = paddle.static.default_main_program().global_block()
    block.append_op("increment", {"X": [x]}, {"Out": [x]}, {"step": 1.0})
    value = np.zeros(1, "float32")
    assert run(feed={"x": value}, fetch_list=[x])[0].tolist() == [1.0]
    assert value.tolist() == [0.0]


def test_temporaries_are_gone_after_a_run_and_persistable_variables_stay():
    _, layer, out = ready()
    run(feed={"x": np.ones((1, 3), "float32")}, fetch_list=[out])
    names = set(paddle.static.global_scope().local_var_names())
    assert {layer.weight.name, layer.bias.name} <= names
    assert out.name not in names


def test_scope_guard_isolates_values():
    _, _, out = ready()
    with paddle.static.scope_guard(paddle.static.Scope()), pytest.raises(UninitializedError):
        run(feed={"x": np.ones((1, 3), "float32")}, fetch_list=[out])


def test_running_main_before_startup_names_the_variable_and_what_to_run():
    x = paddle.static.data("x", [None, 3])
    out = paddle.nn.Linear(3, 2)(x)
    law = r"`linear_0.w_0` has no value.*default_startup_program"
    with pytest.raises(UninitializedError, match=law):
        run(feed={"x": np.ones((1, 3), "float32")}, fetch_list=[out])


def test_a_missing_feed_is_an_error_naming_it():
    _, _, out = ready()
    with pytest.raises(FeedError, match=r"the input `x` \(float32\[-1, 3\]\) was not fed"):
        run(fetch_list=[out])


def test_a_feed_of_another_dtype_is_an_error_with_both():
    _, _, out = ready()
    with pytest.raises(FeedError, match=r"declared float32.*float64"):
        run(feed={"x": np.ones((1, 3))}, fetch_list=[out])


def test_a_feed_of_another_shape_is_an_error_with_both():
    _, _, out = ready()
    with pytest.raises(FeedError, match=r"float32\[-1, 3\].*\[1, 4\]"):
        run(feed={"x": np.ones((1, 4), "float32")}, fetch_list=[out])


def test_an_unknown_fetch_is_an_error_naming_it():
    ready()
    with pytest.raises(FetchError, match="`nothing`"):
        run(feed={"x": np.ones((1, 3), "float32")}, fetch_list=["nothing"])


def test_an_error_names_operator_operands_and_the_users_line_and_leaves_the_scope_usable():
    x = paddle.static.data("x", [None, None])
    w = paddle.static.data("w", [None, None])
    out = paddle.matmul(x, w)
    good = {"x": np.ones((2, 3), "float32"), "w": np.ones((3, 2), "float32")}
    bad = {"x": np.ones((2, 3), "float32"), "w": np.ones((2, 2), "float32")}
    with pytest.raises(ShapeError, match="x has 3 columns and y has 2 rows") as caught:
        run(feed=bad, fetch_list=[out])
    note = str(caught.value)
    assert "in matmul" in note
    assert "x: float32[2, 3]" in note
    assert "test_executor.py:" in note
    assert run(feed=good, fetch_list=[out])[0].tolist() == [[3.0, 3.0], [3.0, 3.0]]


def test_pruning_runs_only_what_the_fetch_list_needs():
    x = paddle.static.data("x", [2])
    y = paddle.static.data("y", [2])
    a, b = x * 2.0, paddle.exp(y)
    feed = {"x": np.ones(2, "float32")}
    assert run(feed=feed, fetch_list=[a], use_prune=True)[0].tolist() == [2, 2]
    with pytest.raises(FeedError, match="`y`"):
        run(feed=feed, fetch_list=[a])
    assert b is not None


def test_lod_tensors_are_fetched_on_demand():
    x = paddle.static.data("x", [2])
    (found,) = run(feed={"x": np.ones(2, "float32")}, fetch_list=[x + 1.0], return_numpy=False)
    assert isinstance(found, paddle.base.core.LoDTensor)
    assert np.array(found).tolist() == [2.0, 2.0]


def test_the_ledger_counts_what_lives():
    x = paddle.static.data("x", [256, 256])
    out = paddle.tanh(paddle.exp(x * 2.0))
    exe = paddle.static.Executor()
    with flags(LEDGER=True):
        exe.run(feed={"x": np.ones((256, 256), "float32")}, fetch_list=[out])
    size = 256 * 256 * 4
    assert exe.ledger.history == (size, size, size)
    assert exe.ledger.peak == 2 * size


def test_a_closed_executor_refuses():
    exe = paddle.static.Executor()
    exe.close()
    with pytest.raises(RuntimeError, match="closed"):
        exe.run(paddle.static.default_main_program())


def test_an_operator_type_nobody_declared_is_refused_when_appended():
    block = paddle.static.default_main_program().global_block()
    with pytest.raises(UnknownOpError, match="`no_such_op`"):
        block.append_op("no_such_op", {}, {}, {})


def test_random_operators_draw_anew_in_every_run_and_alike_after_the_same_seed():
    u = paddle.rand([4])
    paddle.seed(3)
    first = [run(fetch_list=[u])[0] for _ in range(2)]
    paddle.seed(3)
    again = [run(fetch_list=[u])[0] for _ in range(2)]
    assert not np.array_equal(first[0], first[1])
    assert np.array_equal(first, again)


def test_eager_and_static_draw_the_same_numbers():
    a, b = paddle.rand([3]), paddle.randn([2])
    paddle.seed(5)
    static_values = run(fetch_list=[a, b])
    paddle.disable_static()
    paddle.seed(5)
    eager_values = [paddle.rand([3]).numpy(), paddle.randn([2]).numpy()]
    paddle.enable_static()
    for s, e in zip(static_values, eager_values, strict=True):
        assert np.array_equal(s, e)


def test_the_first_operator_that_makes_nan_or_infinity_is_named():
    x = paddle.static.data("x", [2])
    y = paddle.tanh(paddle.log(x))
    paddle.set_flags({"FLAGS_check_nan_inf": True})
    try:
        with pytest.raises(NumberError, match=r"op=log, tensor=log_0.tmp_0") as caught:
            run(feed={"x": np.array([-1, 0], "float32")}, fetch_list=[y])
    finally:
        paddle.set_flags({"FLAGS_check_nan_inf": False})
    assert "in log" in str(caught.value)
    assert run(feed={"x": np.array([-1, 0], "float32")}, fetch_list=[y])[0].shape == (2,)


def test_debug_2_prints_the_steps_with_their_times(capsys):
    x = paddle.static.data("x", [2])
    with flags(DEBUG=2):
        run(feed={"x": np.ones(2, "float32")}, fetch_list=[paddle.exp(x)])
    (line,) = capsys.readouterr().err.splitlines()
    assert line.split()[:2] == ["0", "exp"]
    assert line.endswith("us")


def test_arrays_of_uint16_are_the_bits_of_bfloat16():
    x = paddle.static.data("bits", [3], np.uint16)
    assert x.dtype is paddle.bfloat16
    given = np.array([1.0, -2.5, 0.0], "float32")
    bits = (given.view("uint32") >> 16).astype("uint16")
    (found,) = paddle.static.Executor().run(feed={"bits": bits}, fetch_list=[x * 2.0])
    np.testing.assert_array_equal(found.astype("float32"), given * 2)


def test_a_variable_fetched_twice_comes_as_two_arrays():
    y = paddle.static.data("x", [2]) * 2.0
    first, second = run(feed={"x": np.ones(2, "float32")}, fetch_list=[y, y])
    first[0] = 99.0
    assert second.tolist() == [2.0, 2.0]
