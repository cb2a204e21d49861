"""Derivatives of derivatives of branches, loops and lists: those of eager mode and small steps."""

from dataclasses import replace

import numpy as np
import pytest

import scull as paddle
from scull.files.program import bytes_of, program_of
from scull.ir.verify import verify
from scull.passes.dataflow import lowered
from scull.static.nn import control_flow
from scull.tensor import array_read, array_write, create_array
from tests.control import graph
from tests.control.corpus import smooth
from tests.control.trial import Trial
from tests.static.test_control_flow_gradient import BUILDERS, W, X, number

nn = paddle.static.nn
GIVEN = {"x": X, "w": W}


@pytest.fixture(autouse=True)
def static():
    paddle.enable_static()
    yield
    paddle.disable_static()


def squares(gradients):
    """One number of which all gradients are part."""
    found = [(i + 1.0, g) for i, g in enumerate(gradients) if g is not None]
    return sum(paddle.sum(g * g * by) for by, g in found)


def derivatives(build, order):
    """A Program of derivatives of `build` by `x` and `w`, each of the squares of those before.

    With it come the last derivatives and the number they are of.
    """
    main = paddle.static.Program()
    with paddle.static.program_guard(main), paddle.utils.unique_name.guard():
        given = [paddle.static.data(n, [3], "float64") for n in GIVEN]
        for v in given:
            v.stop_gradient = False
        loss, found = build(*given), []
        for _ in range(order):
            loss = squares(found) if found else loss
            found = paddle.static.gradients([loss], given)
    verify(main)
    return main, found, loss


def run(main, fetches, **feed):
    return paddle.static.Executor().run(main, feed=GIVEN | feed, fetch_list=fetches)


def numeric(main, loss):
    """The gradients of `loss` that small steps show."""
    found = []
    for name, value in GIVEN.items():
        ends = [[run(main, [loss], **{name: value + by})[0] for by in s * STEPS] for s in (1, -1)]
        found.append(np.subtract(*ends) / 2e-6)
    return found


STEPS = np.eye(3) * 1e-6


def list_in_branch(x, w):
    """A branch reads a list from before it and adds to it."""
    items = array_write(x * x, number(0), create_array("float64"))
    with control_flow.Switch() as switch, switch.case(paddle.sum(x) > -99.0):
        array_write(array_read(items, number(0)) * w, number(1), items)
    return paddle.sum(array_read(items, number(0)) * array_read(items, number(1)))


def value_that_stays(x, w):
    """A branch that never runs, in a branch, writes over a value."""
    y = paddle.assign(x * w)
    with control_flow.Switch() as switch, switch.case(paddle.sum(x) > -99.0):
        never = paddle.full([1], False, "bool")
        with control_flow.Switch() as inner, inner.case(never):
            paddle.assign(x * y, y)
    return paddle.sum(y * y)


@pytest.mark.parametrize(
    "build", [*BUILDERS, list_in_branch, value_that_stays], ids=lambda build: build.__name__
)
def test_second_derivatives_are_what_small_steps_show(build):
    main, found, loss = derivatives(build, 2)
    values = run(main, found)
    for a, b in zip(values, numeric(main, loss), strict=True):
        assert np.allclose(a, b, rtol=1e-5, atol=1e-6)
    names = [v.name for v in found]
    flat = lowered(main)
    verify(flat)
    for same in (main.clone(), program_of(bytes_of(main)), flat):
        again = run(same, names)
        assert all(np.array_equal(a, b) for a, b in zip(again, values, strict=True))


LISTS = {
    "einsum": lambda x, w: paddle.einsum("i,j->ij", paddle.tanh(x), w),
    "einsum of three": lambda x, w: paddle.einsum("i,i,j->j", x, paddle.tanh(w), x * w),
    "concat": lambda x, w: paddle.concat([x * x, x * w, w]) ** 2,
    "stack": lambda x, w: paddle.stack([x * w, paddle.tanh(w)]) ** 3,
    "add_n": lambda x, w: paddle.add_n([x * x, w, x * w]) ** 2,
    "multiplex": lambda x, w: (
        paddle.multiplex(
            [paddle.stack([x * w, x]), paddle.stack([w, x * x])],
            paddle.assign(np.array([[1], [0]], "int32")),
        )
        ** 3
    ),
}


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("first", ["x", "w", "xw"])
def test_second_derivatives_of_what_takes_lists_are_what_small_steps_show(name, first):
    main = paddle.static.Program()
    with paddle.static.program_guard(main), paddle.utils.unique_name.guard():
        given = {n: paddle.static.data(n, [3], "float64") for n in GIVEN}
        for v in given.values():
            v.stop_gradient = False
        loss = paddle.sum(LISTS[name](**given))
        loss = squares(paddle.static.gradients([loss], [given[n] for n in first]))
        found = paddle.static.gradients([loss], list(given.values()))
    verify(main)
    values = iter(run(main, [v for v in found if v is not None]))
    for v, expected in zip(found, numeric(main, loss), strict=True):
        value = 0.0 if v is None else next(values)
        assert np.allclose(value, expected, rtol=1e-5, atol=1e-6)


def branch_in_loop(x, w):
    def body(i, s):
        return [i + 1, nn.cond(paddle.sum(s) > -9.0, lambda: s * s * w, lambda: s - w * w)]

    return paddle.sum(nn.while_loop(lambda i, s: i < 2, body, [number(0), x * 1.0])[1])


def loop_in_loop(x, w):
    def inner(s):
        return nn.while_loop(lambda j, t: j < 2, lambda j, t: [j + 1, t * w], [number(0), s * 1.0])

    body = lambda i, s: [i + 1, inner(s)[1]]  # noqa: E731
    return paddle.sum(nn.while_loop(lambda i, s: i < 2, body, [number(0), x * 1.0])[1])


@pytest.mark.parametrize("build", [branch_in_loop, loop_in_loop], ids=lambda f: f.__name__)
def test_third_derivatives_are_what_small_steps_show(build):
    main, found, loss = derivatives(build, 3)
    for a, b in zip(run(main, found), numeric(main, loss), strict=True):
        assert np.allclose(a, b, rtol=1e-4, atol=1e-5)


def eager_second(trial):
    """The second derivatives that Python gives."""
    paddle.disable_static()
    model = trial.model()
    model.weight.set_value(trial.values["weight"])
    model.scale.set_value(trial.values["scale"])
    x, y = (paddle.to_tensor(trial.values[n], stop_gradient=False) for n in "xy")
    given = [x, y, model.weight, model.scale]
    loss = graph.loss_of(model(x, y, paddle.to_tensor(trial.n)))
    first = paddle.grad([loss], given, create_graph=True, allow_unused=True)
    second = paddle.grad([squares(first)], given, allow_unused=True)
    return trial.filled([None if v is None else v.numpy() for v in second])


def with_second(form):
    """The Program of a form with second derivatives in place of the first."""
    block = form.program.global_block()
    with paddle.static.program_guard(form.program), paddle.utils.unique_name.guard("again_"):
        first = [n and block.var(n) for n in form.gradients]
        given = [block.var(n) for n in form.operands]
        found = paddle.static.gradients([squares(first)], given)
    verify(form.program)
    return replace(form, gradients=tuple(v and v.name for v in found))


@pytest.mark.parametrize("number", [0, 1, 2, 4, 5, 7, 26])
def test_random_programs_have_the_second_derivatives_of_eager_python(number):
    trial = Trial(smooth(number), number)
    expected = eager_second(trial)
    form = with_second(trial.program().with_gradients())
    found = trial.run(form).gradients
    for a, b in zip(found, expected, strict=True):
        assert np.allclose(a, b, rtol=1e-7, atol=1e-9)
    flat = trial.run(form.lowered(), SCHEDULE_SEED=trial.order).gradients
    assert all(a.tobytes() == b.tobytes() for a, b in zip(flat, found, strict=True))


@pytest.mark.parametrize("order", [2, 3])
def test_a_branch_in_a_loop_has_the_same_derivatives_of_any_order_as_primitives(order):
    main, found, _ = derivatives(branch_in_loop, order)
    flat = lowered(main)
    verify(flat)
    names = [v.name for v in found]
    for a, b in zip(run(main, names), run(flat, names), strict=True):
        assert np.array_equal(a, b)


def test_a_round_keeps_one_truth_value_of_the_forms_that_its_gradient_reads():
    main, _, _ = derivatives(branch_in_loop, 2)
    loop = next(o for o in main.global_block().ops if o.type == "while")
    (body,) = loop.blocks()
    kept = [o.operands()[0] for o in body.ops if o.type == "write_to_array"]
    assert [v.dtype.name for v in kept].count("bool") == 1
    assert not [v.name for v in kept if v.name.startswith(("logical_not", "cast"))]


def test_a_penalty_on_gradients_trains_a_layer_within_a_loop():
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard():
        paddle.seed(0)
        x = paddle.static.data("x", [4, 3])
        x.stop_gradient = False
        layer = paddle.nn.Linear(3, 3)

        def body(i, h):
            return [i + 1, paddle.tanh(layer(h))]

        _, h = nn.while_loop(lambda i, h: i < 3, body, [number(0), x * 1.0])
        (dx,) = paddle.static.gradients([paddle.sum(h)], [x])
        loss = paddle.mean((dx - 0.25) ** 2)
        paddle.optimizer.Adam(0.05).minimize(loss)
    exe = paddle.static.Executor()
    exe.run(startup)
    feed = {"x": np.random.default_rng(1).random((4, 3), "float32")}
    losses = [float(exe.run(main, feed=feed, fetch_list=[loss])[0]) for _ in range(30)]
    assert losses[-1] < losses[0] / 5


def test_a_branch_may_take_second_derivatives_that_are_differentiated_again():
    main = paddle.static.Program()
    with paddle.static.program_guard(main), paddle.utils.unique_name.guard():
        x = paddle.static.data("x", [3], "float64")
        x.stop_gradient = False

        def branch():
            start = [number(0), x * 1.0]
            s = nn.while_loop(lambda i, s: i < 2, lambda i, s: [i + 1, s * x], start)[1]
            (first,) = paddle.static.gradients([paddle.sum(s)], [x])
            return paddle.static.gradients([paddle.sum(first)], [x])[0] * x

        found = nn.cond(paddle.sum(x) > -99.0, branch, lambda: x)
        (third,) = paddle.static.gradients([paddle.sum(found)], [x])
    verify(main)
    values = paddle.static.Executor().run(main, feed={"x": X}, fetch_list=[found, third])
    assert np.allclose(values[0], 6 * X * X)
    assert np.allclose(values[1], 12 * X)


def test_a_gradient_that_nothing_depends_on_stays_as_it_was():
    main = paddle.static.Program()
    with paddle.static.program_guard(main), paddle.utils.unique_name.guard():
        given = [paddle.static.data(n, [3], "float64") for n in GIVEN]
        for v in given:
            v.stop_gradient = False
        loss = branch_in_loop(*given)
        paddle.static.gradients([loss], given)
        paddle.static.gradients([loss], given)
    assert [o.type for o in main.global_block().ops].count("while_grad") == 2
