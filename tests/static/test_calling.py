"""Python functions in Programs, what stops a Program, and areas under curves that outlive runs."""

import gc
import weakref

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, ArgumentTypeError

FEED = {"x": np.arange(6, dtype="float32").reshape(2, 3)}


@pytest.fixture
def program():
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(main):
        yield main
    paddle.disable_static()


def variables(program, *names):
    x = paddle.static.data("x", [2, 3])
    x.stop_gradient = False
    block = program.current_block()
    return x, *[block.create_var(n, shape=[2, 3], dtype="float32") for n in names]


def run(fetches):
    return paddle.static.Executor().run(feed=FEED, fetch_list=fetches)


def doubled(x):
    return np.array(x) * 2


def test_a_python_function_and_its_gradient_run_in_a_program(program):
    x, y = variables(program, "y")
    paddle.static.py_func(doubled, x, y, lambda x, y, dy: np.array(dy) * 2)
    (dx,) = paddle.static.gradients(paddle.mean(y), [x])
    found = run([y, dx])
    assert np.array_equal(found[0], FEED["x"] * 2)
    assert np.allclose(found[1], 1 / 3)
    assert [o.input("X") for o in program.global_block().ops if o.type == "py_func"] == [
        ["x"],
        ["x", "y", "y@GRAD"],
    ]


def test_skipped_variables_are_not_handed_to_the_gradient(program):
    x, y = variables(program, "y")
    paddle.static.py_func(doubled, x, y, lambda dy: np.array(dy) * 2, [x, y])
    (dx,) = paddle.static.gradients(paddle.mean(y), [x])
    assert np.allclose(run([dx])[0], 1 / 3)


def test_several_results_have_gradients_of_their_own(program):
    x, y, z = variables(program, "y", "z")
    paddle.static.py_func(
        lambda x: (doubled(x), np.array(x)),
        x,
        [y, z],
        lambda x, y, z, dy, dz: np.array(dy) * 2 + np.array(dz),
    )
    (dx,) = paddle.static.gradients(paddle.mean(y + z * 2), [x])
    assert np.allclose(run([dx])[0], 4 / 6)


def test_a_function_without_a_gradient_has_none(program):
    x, y = variables(program, "y")
    paddle.static.py_func(doubled, x, y)
    assert paddle.static.gradients(paddle.mean(y), [x]) == [None]


def test_a_function_that_gives_too_little_is_named(program):
    x, y, z = variables(program, "y", "z")
    paddle.static.py_func(doubled, x, [y, z])
    with pytest.raises(ArgumentError, match="gave 1 results, not 2"):
        run([y])


def test_an_error_of_the_function_is_the_users_own(program):
    x, y = variables(program, "y")
    paddle.static.py_func(lambda x: {}["mine"], x, y)
    with pytest.raises(KeyError, match="mine"):
        run([y])


def test_what_is_no_function_and_what_cannot_be_skipped_is_refused(program):
    x, y, z = variables(program, "y", "z")
    with pytest.raises(ArgumentTypeError, match="func must be a Python function"):
        paddle.static.py_func(3, x, y)
    with pytest.raises(ArgumentTypeError, match="'X' in py_func must be Variable"):
        paddle.static.py_func(doubled, 3, y)
    with pytest.raises(ArgumentError, match="Variable z is not found"):
        paddle.static.py_func(doubled, x, y, doubled, z)


def test_an_assertion_stops_a_program_and_shows_its_data(program):
    x = paddle.static.data("x", [2, 3])
    paddle.static.nn.control_flow.Assert(paddle.max(x) < 5.0, [x], summarize=2)
    with pytest.raises(ArgumentError, match=r"does not:\s+float32\[2, 3\] 0.0, 1.0, \.\.\."):
        run([x])


def test_a_function_lives_as_long_as_a_program_that_calls_it():
    class Doubling:
        def __call__(self, x):
            return doubled(x)

    def recorded():
        function, main = Doubling(), paddle.static.Program()
        with paddle.static.program_guard(main):
            x, y = variables(main, "y")
            paddle.static.py_func(function, x, y)
        return main, weakref.ref(function)

    paddle.enable_static()
    main, function = recorded()
    copy = main.clone(for_test=True)
    del main
    gc.collect()
    (found,) = paddle.static.Executor().run(copy, feed=FEED, fetch_list=["y"])
    paddle.disable_static()
    assert np.array_equal(found, FEED["x"] * 2) and function() is not None
    del copy
    gc.collect()
    assert function() is None


def test_each_plan_counts_how_often_print_prints(program, capsys):
    x = paddle.static.data("x", [2, 3])
    shown = paddle.static.Print(x * 2.0, first_n=2, message="shown")
    first, second = shown + 1.0, shown + 2.0
    exe, counts = paddle.static.Executor(), []
    for fetched in (first, second, second, first, second, first):
        exe.run(feed=FEED, fetch_list=[fetched])
        counts.append(capsys.readouterr().out.count("shown"))
    assert counts == [1, 1, 1, 1, 0, 0]


@pytest.mark.parametrize(("slides", "size"), [(1, (201,)), (0, (1, 100))])
def test_areas_under_curves_go_on_from_run_to_run(slides, size):
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        scores = paddle.static.data("scores", [2, 2])
        labels = paddle.static.data("labels", [2, 1], "int64")
        area, last, counts = paddle.static.auc(
            scores, labels, num_thresholds=99, slide_steps=slides
        )
    exe, scope, found = paddle.static.Executor(), paddle.static.Scope(), []
    with paddle.static.scope_guard(scope):
        exe.run(startup)
        for held in ([[1], [0]], [[0], [1]]):
            feed = {"scores": np.array([[0.2, 0.8], [0.9, 0.1]], "float32")}
            feed["labels"] = np.array(held)
            found.append([float(v) for v in exe.run(main, feed=feed, fetch_list=[area, last])])
    paddle.disable_static()
    assert found == [[1.0, 1.0], [0.5, 0.0 if slides else 0.5]]
    assert [c.shape for c in counts] == [size, size, (1, 100), (1, 100)]


def test_an_area_goes_on_from_counts_as_the_reference_begins_them(program):
    startup = paddle.static.Program()
    with paddle.static.program_guard(program, startup):
        x, y = paddle.static.data("x", [2, 2]), paddle.static.data("y", [2, 1], "int64")
        _, last, counts = paddle.static.auc(x, y, num_thresholds=9, slide_steps=0)
    exe, scope = paddle.static.Executor(), paddle.static.Scope()
    feed = {"x": np.array([[0.2, 0.8], [0.9, 0.1]], "float32"), "y": np.array([[1], [0]])}
    with paddle.static.scope_guard(scope):
        exe.run(startup)
        for v in counts[:2]:  # one more than there are bins
            scope.find_var(v.name).get_tensor().set(np.zeros(11, "int64"), paddle.CPUPlace())
        found = [float(exe.run(program, feed=feed, fetch_list=[last])[0]) for _ in range(2)]
        assert found == [1.0, 1.0]
        kept = np.array(scope.find_var(counts[0].name).get_tensor())
        assert kept.tolist() == [0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0]


@pytest.mark.parametrize("real", [None, 1, 0])
def test_sums_of_errors_of_chances_go_on_from_run_to_run(program, real):
    startup = paddle.static.Program()
    with paddle.static.program_guard(program, startup):
        x, y = paddle.static.data("x", [-1, 1]), paddle.static.data("y", [-1, 1], "int64")
        weight = None if real is None else paddle.static.data("w", [-1, 1], "int64")
        sums = paddle.static.ctr_metric_bundle(x, y, weight)
        with pytest.raises(AssertionError, match="has shape"):
            paddle.static.ctr_metric_bundle(x, paddle.static.data("z", [-1, 2]))
    exe = paddle.static.Executor()
    exe.run(startup)
    feed = {"x": np.array([[0.2], [0.9], [0.6], [0.3]], "float32")}
    feed["y"] = np.array([[0], [1], [0], [1]])
    if real is not None:
        feed["w"] = np.array([[real]])
    for _ in range(2):
        found = exe.run(program, feed=feed, fetch_list=list(sums))
    counted = 0.0 if real == 0 else 1.0
    expected = [1.8, 3.2, 4.0, 4.9617643 * counted, 4.0, 8.0 * counted]  # as Paddle has them
    np.testing.assert_allclose([v.item() for v in found], expected, rtol=1e-6)
    assert [v.shape for v in found] == [(1,), (1,), (1,), (1, 1), (1,), (1, 1)]


def test_a_function_may_take_nothing_or_give_nothing(program):
    seen = []
    made = program.current_block().create_var("made", shape=[1], dtype="float32")
    paddle.static.py_func(lambda: np.array([4], "float32"), None, made)
    paddle.static.py_func(lambda x: seen.append(np.array(x).tolist()), made, None)
    (found,) = paddle.static.Executor().run(fetch_list=[made])
    assert found.tolist() == [4.0] and seen == [[4.0]]
