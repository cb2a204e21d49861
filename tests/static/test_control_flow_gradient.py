"""Gradients of branches, loops and lists: those of eager mode, and those that small steps show."""

import numpy as np
import pytest

import scull as paddle
from scull.executor import closed
from scull.executor.plan import make_plan
from scull.files.program import bytes_of, program_of
from scull.flags import flags
from scull.ir.verify import verify
from scull.static.nn.control_flow import While

nn, arrays = paddle.static.nn, paddle.tensor
CHANCE = np.random.default_rng(0)
X, W = CHANCE.standard_normal(3), CHANCE.standard_normal(3)


@pytest.fixture(autouse=True)
def static():
    paddle.enable_static()
    yield
    paddle.disable_static()


def number(value):
    return paddle.full([1], value, "int64")


def program(build):
    """A Program of the loss of `build` and its gradients by `x` and `w`, and their names."""
    main = paddle.static.Program()
    with paddle.static.program_guard(main), paddle.utils.unique_name.guard():
        given = [paddle.static.data(n, [3], "float64") for n in ("x", "w")]
        for v in given:
            v.stop_gradient = False
        loss = build(*given)
        paddle.static.append_backward(loss, parameter_list=["x", "w"])
    verify(main)
    return main, [loss.name, "x@GRAD", "w@GRAD"]


def run(main, names, x=X, w=W):
    return paddle.static.Executor().run(main, feed={"x": x, "w": w}, fetch_list=names)


def numeric(main, loss):
    """The gradients that small steps show."""
    found = []
    for name, value in (("x", X), ("w", W)):
        steps = np.zeros(3)
        for i in range(3):
            by = np.eye(3)[i] * 1e-6
            ends = [run(main, [loss], **{name: value + s * by})[0] for s in (1, -1)]
            steps[i] = (ends[0] - ends[1]) / 2e-6
        found.append(steps)
    return found


def branch(x, w):
    return paddle.sum(nn.cond(paddle.sum(x) < 0.0, lambda: x * w * x, lambda: paddle.tanh(x) + w))


def other_branch(x, w):
    return paddle.sum(nn.cond(paddle.sum(x) > 0.0, lambda: x * w * x, lambda: paddle.tanh(x) + w))


def one_result_without_a_gradient(x, w):
    a, b = nn.cond(paddle.sum(x) > 0.0, lambda: (x * w, x), lambda: (w, x * x))
    b.stop_gradient = True
    return paddle.sum(a * b)


def loop(x, w):
    _, s = nn.while_loop(
        lambda i, s: i < 4, lambda i, s: [i + 1, paddle.tanh(s * w) + s], [number(0), x * 1.0]
    )
    return paddle.sum(s * s)


def no_round(x, w):
    _, s = nn.while_loop(
        lambda i, s: i < 4, lambda i, s: [i + 1, paddle.tanh(s * w)], [number(9), x * 1.0]
    )
    return paddle.sum(s * s * w)


def overwritten_unread(x, w):
    start = [number(0), x * 1.0, x * 2.0]
    _, _, t = nn.while_loop(lambda i, s, t: i < 3, lambda i, s, t: [i + 1, w * s, s * s], start)
    return paddle.sum(t)


def carried_unused_after(x, w):
    start = [number(0), x * 0.0, x * 1.0]
    _, s, _ = nn.while_loop(
        lambda i, s, h: i < 3, lambda i, s, h: [i + 1, s + h * h, paddle.tanh(h * w)], start
    )
    return paddle.sum(s)


def branch_in_loop_in_branch(x, w):
    def body(i, s):
        return [i + 1, nn.cond(paddle.sum(s) > 0.0, lambda: paddle.sin(s * w), lambda: s - w * w)]

    def looped():
        return nn.while_loop(lambda i, s: i < 3, body, [number(0), x * 1.0])[1]

    return paddle.sum(nn.cond(paddle.sum(x) < 10.0, looped, lambda: x))


def loop_in_loop(x, w):
    def inner(i, s):
        body = lambda j, t: [j + 1, t * w + x]  # noqa: E731
        return nn.while_loop(lambda j, t: j < i, body, [number(0), s * 1.0])[1]

    body = lambda i, s: [i + 1, inner(i, s)]  # noqa: E731
    return paddle.sum(nn.while_loop(lambda i, s: i < 4, body, [number(0), x * 1.0])[1])


def list_that_a_loop_fills(x, w):
    i, array = number(0), arrays.create_array("float64")
    array = arrays.array_write(x, i, array)

    def body(i, array):
        last = arrays.array_read(array, i)
        array = arrays.array_write(paddle.tanh(last * w) + last * x, i + 1, array)
        return [i + 1, array]

    i, array = nn.while_loop(lambda i, _: i < 3, body, [i, array])
    last = arrays.array_read(array, i) * arrays.array_read(array, number(1))
    return paddle.sum(last) + paddle.sum(paddle.stack(array, axis=0) * 0.5)


def list_read_in_a_loop(x, w):
    array = arrays.create_array("float64", [x * float(k + 1) * w for k in range(3)])

    def body(i, s):
        first = arrays.array_read(array, number(0))
        return [i + 1, s * arrays.array_read(array, i) + first]

    _, s = nn.while_loop(lambda i, s: i < 3, body, [number(0), x * 1.0])
    return paddle.sum(s * arrays.array_read(array, number(2)))


def list_written_at_one_place(x, w):
    array = arrays.create_array("float64", [x * w])

    def body(i, array):
        value = arrays.array_read(array, number(0)) * w + x
        return [i + 1, arrays.array_write(value, number(0), array)]

    _, array = nn.while_loop(lambda i, _: i < 3, body, [number(0), array])
    return paddle.sum(arrays.array_read(array, number(0)))


def list_read_in_a_branch(x, w):
    array = arrays.create_array("float64", [x * w])
    read = lambda: arrays.array_read(array, number(0)) * x  # noqa: E731
    y = nn.cond(paddle.sum(x) > -100.0, read, lambda: w)
    return paddle.sum(y * arrays.array_read(array, number(0)))


def counter_increased_in_place(x, w):
    i, limit, s = number(0), number(3), x * 1.0
    array = arrays.array_write(x * w, i)
    holds = paddle.less_than(i, limit)
    with While(holds).block():
        last = arrays.array_read(array, i)
        paddle.increment(i)
        arrays.array_write(paddle.tanh(last) * x, i, array)
        paddle.assign(s * last, s)
        paddle.assign(s + s * s, s)
        paddle.assign(paddle.less_than(i, limit), holds)
    return paddle.sum(s * arrays.array_read(array, i))


def list_made_anew_each_round(x, w):
    def body(i, s):
        array, k, two = arrays.create_array("float64"), number(0), number(2)
        holds = paddle.less_than(k, two)
        with While(holds).block():
            arrays.array_write(s * w, arrays.array_length(array), array)
            paddle.increment(k)
            paddle.assign(paddle.less_than(k, two), holds)
        last = arrays.array_read(array, arrays.array_length(array) - 1)
        return [i + 1, last * arrays.array_read(array, number(0)) + x]

    return paddle.sum(nn.while_loop(lambda i, s: i < 3, body, [number(0), x * 1.0])[1])


def place_read_written_and_read_in_a_round(x, w):
    array = arrays.create_array("float64", [x * w, x * 2.0])

    def body(i, array):
        before = arrays.array_read(array, number(0))
        array = arrays.array_write(paddle.sin(before * w) * before + x, number(0), array)
        after = arrays.array_read(array, number(0))
        array = arrays.array_write(before * after * x, number(1), array)
        return [i + 1, array]

    _, array = nn.while_loop(lambda i, _: i < 3, body, [number(0), array])
    return paddle.sum(arrays.array_read(array, number(0)) * arrays.array_read(array, number(1)))


BUILDERS = (
    branch,
    other_branch,
    loop,
    no_round,
    overwritten_unread,
    carried_unused_after,
    branch_in_loop_in_branch,
    loop_in_loop,
    list_that_a_loop_fills,
    list_read_in_a_loop,
    list_written_at_one_place,
    list_read_in_a_branch,
    counter_increased_in_place,
    list_made_anew_each_round,
    place_read_written_and_read_in_a_round,
)


@pytest.mark.parametrize("build", BUILDERS, ids=lambda build: build.__name__)
def test_gradients_are_what_small_steps_show(build):
    main, names = program(build)
    _, *found = run(main, names)
    for a, b in zip(found, numeric(main, names[0]), strict=True):
        assert np.allclose(a, b, rtol=1e-6, atol=1e-7)
    for same in (main.clone(), program_of(bytes_of(main))):
        again = run(same, names)[1:]
        assert all(np.array_equal(a, b) for a, b in zip(again, found, strict=True))


@pytest.mark.parametrize("form", ["in-graph", "primitives", "unrolled"])
def test_each_round_finds_its_own_variables_without_a_value(form):
    main, names = program(list_made_anew_each_round)
    expected = X
    for _ in range(3):
        expected = (expected * W) ** 2 + X
    with flags(CONTROL_FLOW=form):
        with_gradients, *found = run(main, names)
        alone = run(main._prune(names[:1]), names[:1])[0]
    assert np.allclose([with_gradients, alone], expected.sum(), rtol=1e-12)
    assert all(map(np.allclose, found, run(main, names)[1:]))
    with flags(POISON=1):  # what nobody needs any more holds no numbers
        assert all(map(np.array_equal, run(main, names)[1:], found))


def test_a_place_of_a_list_read_and_written_by_turns_has_the_gradients_of_eager_mode():
    main, names = program(place_read_written_and_read_in_a_round)
    found = run(main, names)
    paddle.disable_static()
    x, w = (paddle.to_tensor(v, stop_gradient=False) for v in (X, W))
    loss = place_read_written_and_read_in_a_round(x, w)
    loss.backward()
    eager = (loss, x.grad, w.grad)
    assert all(np.allclose(a, b.numpy(), rtol=1e-12) for a, b in zip(found, eager, strict=True))


def test_a_result_that_needs_no_gradient_leaves_the_other_its_own():
    main, names = program(one_result_without_a_gradient)
    _, dx, dw = run(main, names)
    assert np.allclose(dx, W * X if X.sum() > 0 else 0)
    assert np.allclose(dw, X * X)


def loop_of_fed_length(x, w):
    limit = paddle.cast(paddle.sum(x * 0.0) + 4.0, "int64")
    start = [number(0), x * 1.0]
    body = lambda i, s: [i + 1, paddle.tanh(s * w) + s]  # noqa: E731
    return paddle.sum(nn.while_loop(lambda i, s: i < limit, body, start)[1])


def test_a_loop_says_what_each_round_keeps_for_its_gradient():
    main, names = program(loop_of_fed_length)
    plan = make_plan(main.global_block(), ("x", "w"), tuple(names), reuses=False)
    assert "every run keeps 48 bytes for its gradient: tanh_0.tmp_0, tmp_" in str(plan)
    assert plan.peak_bytes is None
    assert str(plan.peak).startswith("unbounded because of `while` at ")
    assert str(plan.peak).endswith(", which keeps 48 bytes a round for its gradient")


def loop_of_length(rounds):
    def build(x, w):
        start = [number(0), x * 1.0]
        body = lambda i, s: [i + 1, paddle.tanh(s * w) + s]  # noqa: E731
        return paddle.sum(nn.while_loop(lambda i, s: i < rounds, body, start)[1])

    return build


@pytest.mark.parametrize(
    "build",
    [loop, no_round, overwritten_unread, carried_unused_after, branch_in_loop_in_branch],
    ids=lambda build: build.__name__,
)
def test_a_loop_whose_rounds_are_counted_before_has_a_bound(build):
    main, names = program(build)
    plan = make_plan(main.global_block(), ("x", "w"), tuple(names))
    exe = paddle.static.Executor()
    with flags(POISON=1):  # a run that counts bytes
        exe.run(main, feed={"x": X, "w": W}, fetch_list=names)
    assert 0 < exe.ledger.values <= plan.peak_bytes


def test_the_bound_of_a_loop_grows_by_what_a_round_keeps():
    peaks = {}
    for rounds in (10, 20, 1000):
        main, names = program(loop_of_length(rounds))
        plan = make_plan(main.global_block(), ("x", "w"), tuple(names), reuses=False)
        peaks[rounds] = plan.peak_bytes
    assert peaks[20] - peaks[10] == 10 * 48
    assert peaks[1000] - peaks[20] == 980 * 48


def bytes_taken(main, names, rounds):
    """The most bytes of values during a run of so many rounds."""
    exe = paddle.static.Executor()
    with flags(POISON=1):  # a run that counts bytes
        exe.run(main, feed={"x": X, "w": W, "rounds": np.array([rounds])}, fetch_list=names)
    return exe.ledger.values


def listed(limit):
    def build(x, w):
        array, rounds = arrays.array_write(x * 1.0, number(0)), limit()

        def body(i, array):
            value = paddle.tanh(arrays.array_read(array, i) * w)
            return [i + 1, arrays.array_write(value, i + 1, array)]

        i, array = nn.while_loop(lambda i, _: i < rounds, body, [number(0), array])
        return paddle.sum(arrays.array_read(array, i))

    return build


def carried(limit):
    def build(x, w):
        rounds, start = limit(), [number(0), x * 1.0]
        body = lambda i, s: [i + 1, paddle.tanh(s * w)]  # noqa: E731
        return paddle.sum(nn.while_loop(lambda i, _: i < rounds, body, start)[1])

    return build


@pytest.mark.parametrize(
    ("builder", "forward", "backward"),
    [(carried, 0, 48), (listed, 24, 88)],
    ids=["carried", "list"],
)
def test_bytes_grow_by_a_constant_a_round(builder, forward, backward):
    main, names = program(builder(lambda: paddle.static.data("rounds", [1], "int64")))
    cases = ((main._prune(names[:1]), names[:1], forward), (main, names, backward))
    for made, fetches, each in cases:
        few, some, many = (bytes_taken(made, fetches, n) for n in (100, 200, 300))
        assert some - few == many - some == 100 * each


def test_lists_that_a_loop_fills_are_changed_and_not_copied():
    main, names = program(listed(lambda: number(4)))
    plan = make_plan(main.global_block(), ("x", "w"), tuple(names))
    writes = [
        step
        for outer in plan.steps
        if outer.nested is not None
        for step in outer.nested.steps
        if step.operator.type == "write_to_array"
    ]
    assert len(writes) >= 2
    for step in writes:
        held = [None]
        assert step.operator.op.cpu(X, np.array([3]), held) is held


def nested(depth, v):
    if not depth:
        return v * v
    return nn.cond(paddle.sum(v) > -99.0, lambda: nested(depth - 1, paddle.tanh(v)), lambda: v)


def test_each_block_is_walked_once_however_deep_it_lies(monkeypatch):
    walks = []
    edges = closed.edges
    monkeypatch.setattr(closed, "edges", lambda *given: walks.append(given[0]) or edges(*given))
    counts = {}
    for depth in (5, 10, 20):
        main, names = program(lambda x, w, depth=depth: paddle.sum(nested(depth, x) * w))
        walks.clear()
        make_plan(main.global_block(), ("x", "w"), tuple(names))
        counts[depth] = len(walks)
    assert counts[20] - counts[10] == 2 * (counts[10] - counts[5])


def test_a_loop_hands_values_to_the_next_round_without_copies():
    main, names = program(loop)
    plan = make_plan(main._prune(names[:1]).global_block(), ("x", "w"), (names[0],))
    (inner,) = (step.nested for step in plan.steps if step.nested is not None)
    value = np.zeros(3)
    moves = [step for step in inner.steps if step.operator.type == "assign"]
    assert len(moves) == 3
    assert all(step.call(value) is value for step in moves)


def test_nothing_is_kept_where_no_gradient_is_asked_for():
    main, names = program(loop)
    plan = make_plan(main._prune(names[:1]).global_block(), ("x", "w"), (names[0],))
    assert "keeps" not in str(plan)


def test_a_branch_with_its_gradient_has_a_bound():
    main, names = program(branch)
    plan = make_plan(main.global_block(), ("x", "w"), tuple(names))
    assert plan.peak_bytes is not None


def test_parameters_learn_through_a_loop_and_a_branch():
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard():
        paddle.seed(1)
        x = paddle.static.data("x", [4, 3])
        hidden = paddle.static.nn.fc(x, 3)
        layer = paddle.nn.Linear(3, 3)

        def body(i, h):
            return [
                i + 1,
                nn.cond(paddle.mean(h) > 0.0, lambda: paddle.tanh(layer(h)), lambda: h * 0.5),
            ]

        _, h = nn.while_loop(lambda i, h: i < 3, body, [number(0), hidden])
        loss = paddle.mean((h - 0.25) ** 2)
        paddle.optimizer.SGD(0.5).minimize(loss)
    exe = paddle.static.Executor()
    exe.run(startup)
    feed = {"x": np.random.default_rng(1).random((4, 3), "float32")}
    losses = [float(exe.run(main, feed=feed, fetch_list=[loss])[0]) for _ in range(30)]
    assert losses[-1] < losses[0] / 5


def test_gradients_by_chosen_variables_pass_blocks():
    main = paddle.static.Program()
    with paddle.static.program_guard(main), paddle.utils.unique_name.guard():
        x = paddle.static.data("x", [3], "float64")
        x.stop_gradient = False
        y = nn.cond(paddle.sum(x) > 100.0, lambda: x, lambda: x * x * x)
        (dx,) = paddle.static.gradients([y], [x])
    found = paddle.static.Executor().run(main, feed={"x": X}, fetch_list=[dx])[0]
    assert np.allclose(found, 3 * X * X)


def test_many_rounds_keep_one_row_each():
    main, names = program(list_made_anew_each_round)
    exe, feed = paddle.static.Executor(), {"x": X, "w": W}
    first = exe.run(main, feed=feed, fetch_list=names)
    for _ in range(20):
        again = exe.run(main, feed=feed, fetch_list=names)
        assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))


def test_the_bytes_of_a_run_are_the_same_each_time():
    main, names = program(listed(lambda: paddle.static.data("rounds", [1], "int64")))
    assert len({bytes_taken(main, names, 20) for _ in range(30)}) == 1


@pytest.mark.parametrize("rounds", [1, 2, 5])
def test_what_is_summed_over_rounds_is_not_freed_with_its_round(rounds):
    build = carried(lambda: paddle.static.data("rounds", [1], "int64"))
    main, names = program(build)
    feed = {"x": X, "w": W, "rounds": np.array([rounds])}
    plain = paddle.static.Executor().run(main, feed=feed, fetch_list=names)
    with flags(POISON=1):
        poisoned = paddle.static.Executor().run(main, feed=feed, fetch_list=names)
    for a, b in zip(plain, poisoned, strict=True):
        np.testing.assert_array_equal(a, b)
