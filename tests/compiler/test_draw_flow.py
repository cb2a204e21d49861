"""Random numbers within loops and branches of machine code: those the instructions draw."""

import importlib.util
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import scull as paddle
import scull.nn.functional as F
from scull.compiler.flow import Branch, Loop, controls
from scull.core import session
from scull.errors import RangeError, RunError
from scull.executor.call import Call
from scull.flags import flags
from scull.static.nn import cond, while_loop
from tests.executor.test_compiled import program_of
from tests.executor.test_compiled_flow import code_alone

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)
SHAPE = [3, 7]


@pytest.fixture(autouse=True)
def static():
    paddle.enable_static()
    yield
    paddle.disable_static()


def number(value, dtype="int64"):
    return paddle.full([1], value, dtype)


def given():
    """What is fed; operators have no seeds."""
    paddle.static.default_main_program().random_seed = 0
    x, n = paddle.static.data("x", SHAPE), paddle.static.data("n", [1], "int64")
    x.stop_gradient = False
    return x, n


def fed(n):
    return {"x": np.random.default_rng(0).normal(size=SHAPE).astype("float32"), "n": np.array([n])}


class Ran:
    """What runs of a Program in a row gave, one for each number of rounds, and where the
    generator stood after each; the steps of its plans, and its loops and branches.
    """

    def __init__(self, build, rounds, mode):
        main, startup, outs = program_of(build)
        exe, scope = paddle.static.Executor(), paddle.static.Scope()
        paddle.seed(5)
        self.found, self.states, self.steps = [], [], []
        with flags(COMPILE=mode), paddle.static.scope_guard(scope):
            exe.run(startup)
            for n in rounds:
                self.found.append(exe.run(main, feed=fed(n), fetch_list=outs))
                self.states.append(session.generator().get_state())
        tiers = [b.tier for b in main.plans.values() if b.tier is not None]
        self.steps = [row[0] for t in tiers for rows in t.variants.values() for row in rows]
        calls = [step for step in self.steps if isinstance(step, Call)]
        self.nodes = [x for call in calls for x in controls(call.native.region.nodes)]


def agrees(build, rounds=(0, 1, 5, 1, 40), tolerance=0.0):
    """Code draws what the instructions draw; whole Programs are one region, whose nodes it is."""
    want = Ran(build, rounds, "off")
    with code_alone():
        got = Ran(build, rounds, "eager")
    assert got.states == want.states
    for a, b in zip(got.found, want.found, strict=True):
        for x, y in zip(a, b, strict=True):
            np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)
    assert [type(step) for step in got.steps] == [Call]
    return got


def kinds_of_draws(x, n):
    """A loop whose rounds draw in every exact way; draws before and after it."""

    def body(i, h, total):
        h = F.dropout(h, 0.3) + paddle.uniform(SHAPE, min=-1.0, max=1.0)
        h = h + paddle.bernoulli(paddle.full(SHAPE, 0.25))
        chosen = paddle.randint(-5, 90, SHAPE)
        wide = paddle.cast(paddle.uniform(SHAPE, "float64"), "float32")
        return [i + 1, h * 0.5 + wide, total + chosen]

    first = F.dropout(x, 0.5)
    whole = paddle.randint(0, 9, SHAPE)
    found = while_loop(lambda i, h, t: i < n, body, [number(0), first, whole])
    return [*found, paddle.uniform(SHAPE), F.dropout(x, 0.1)]


def test_rounds_of_loops_draw_what_the_instructions_do():
    ran = agrees(lambda: kinds_of_draws(*given()))
    assert [type(node) for node in ran.nodes] == [Loop]
    assert ran.states[0][1] + 5 * 5 + 4 == ran.states[2][1] - (5 + 4)
    assert (ran.found[1][1] != ran.found[3][1]).any()


def nested(x, n):
    """Loops in loops, branches in both, which draw more or less than one another."""

    def rare(h):
        return cond(
            paddle.mean(h) > 0.0,
            lambda: F.dropout(h, 0.5) + paddle.uniform(SHAPE),
            lambda: paddle.uniform(SHAPE) - h,
        )

    def outer(i, h):
        _, h = while_loop(lambda j, h: j < i, lambda j, h: [j + 1, rare(h)], [number(0), h])
        h = cond(i > 2, lambda: h * 1.0, lambda: F.dropout(h, 0.2))
        return [i + 1, paddle.tanh(h) * 0.0 + h]

    _, h = while_loop(lambda i, h: i < n, outer, [number(0), x])
    return [h, paddle.uniform([5])]


def test_branches_and_loops_in_one_another_hand_on_how_often_they_drew():
    ran = agrees(lambda: nested(*given()), rounds=(0, 1, 2, 7, 4))
    assert [type(node) for node in ran.nodes].count(Loop) == 2
    assert Branch in [type(node) for node in ran.nodes]


@pytest.mark.parametrize("taken", [0, 1])
def test_what_a_branch_does_not_draw_is_for_the_next_run(taken):
    def build():
        x, n = given()
        chosen = cond(n > 0, lambda: F.dropout(F.dropout(x, 0.5), 0.5), lambda: x * 2.0)
        return [chosen, paddle.uniform([4])]

    ran = agrees(build, rounds=[taken] * 3)
    before, after = ran.states[0][1], ran.states[1][1]
    assert after - before == (3 if taken else 1)


def test_draws_that_nobody_reads_count():
    def build():
        x, n = given()

        def body(i):
            paddle.assign(paddle.uniform(SHAPE), output=spare)
            return [i + 1]

        spare = paddle.zeros(SHAPE)
        while_loop(lambda i: i < n, body, [number(0)])
        return [F.dropout(x, 0.5)]

    ran = agrees(build, rounds=(3, 0, 2))
    assert [b - a for (_, a), (_, b) in zip(ran.states, ran.states[1:], strict=False)] == [1, 3]


def test_gradients_go_through_the_masks_of_each_round():
    def build():
        x, n = given()
        layer = paddle.nn.Linear(7, 7)

        def body(i, h):
            h = F.dropout(paddle.tanh(layer(h)) * 0.5, 0.3)
            h = cond(i > 1, lambda: F.dropout(h, 0.2) + h, lambda: h * 1.0)
            return [i + 1, h]

        _, h = while_loop(lambda i, h: i < n, body, [number(0), F.dropout(x, 0.4)])
        loss = paddle.mean(h * h)
        paddle.optimizer.SGD(0.1).minimize(loss)
        return [loss, h, layer.weight, *paddle.static.gradients([loss], [x])]

    ran = agrees(build, rounds=(0, 1, 5, 1, 20), tolerance=1e-5)
    assert [type(node) for node in ran.nodes if isinstance(node, Loop)] == [Loop] * 3
    assert str(ran.steps[0].native.region).count("random_half") == 3


def test_instructions_beside_a_region_draw_when_their_turn_is():
    def build():
        x, n = given()
        before = paddle.cast(paddle.randperm(7), "float32")

        def body(i, h):
            return [i + 1, F.dropout(h, 0.3) + before]

        _, h = while_loop(lambda i, h: i < n, body, [number(0), x])
        sorted_, _ = paddle.topk(h, 3)
        odd = paddle.cast(paddle.randperm(3), "float32")
        _, h = while_loop(
            lambda i, h: i < n,
            lambda i, h: [i + 1, F.dropout(h, 0.1) + paddle.uniform([3])],
            [number(0), sorted_ + odd],
        )
        return [h, paddle.uniform([2])]

    want = Ran(build, (2, 0, 3), "off")
    with code_alone():
        got = Ran(build, (2, 0, 3), "eager")
    assert got.states == want.states
    for a, b in zip(got.found, want.found, strict=True):
        assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))
    assert [type(node) for node in got.nodes] == [Loop, Loop] and len(got.steps) > 2


def test_after_an_error_draws_are_those_of_the_instructions():
    def build():
        x, n = given()
        table = paddle.create_parameter([6, 7], "float32")

        def body(i, h):
            row = F.embedding(i, table)
            return [i + 1, F.dropout(h + row, 0.3)]

        _, h = while_loop(lambda i, h: i < n, body, [number(0), x])
        loss = paddle.mean(h)
        paddle.optimizer.SGD(0.1).minimize(loss)
        return [loss, F.dropout(h, 0.5)]

    main, startup, outs = program_of(build)
    exe, said = paddle.static.Executor(), []
    for mode in ("off", "eager"):
        scope = paddle.static.Scope()
        paddle.seed(5)
        with flags(COMPILE=mode, MAX_ROUNDS=20), paddle.static.scope_guard(scope):
            exe.run(startup)
            begun = {n: np.array(c.value) for n, c in scope.cells.items()}
            for n, kind in ((9, RangeError), (30, (RunError, RangeError))):
                with pytest.raises(kind) as error:
                    exe.run(main, feed=fed(n), fetch_list=outs)
                state = session.generator().get_state()
                said.append((str(error.value).splitlines()[:2], state))
            assert all(np.array_equal(begun[n], c.value) for n, c in scope.cells.items())
            said.append(exe.run(main, feed=fed(3), fetch_list=outs)[1].tolist())
            said.append(session.generator().get_state())
    assert said[:4] == said[4:]


def test_a_loop_that_goes_on_too_long_has_drawn_what_the_instructions_drew():
    def build():
        x, n = given()
        return while_loop(
            lambda i, h: i < n, lambda i, h: [i + 1, F.dropout(h, 0.3)], [number(0), x]
        )

    states = []
    main, _, outs = program_of(build)
    for mode in ("off", "eager"):
        paddle.seed(5)
        with flags(COMPILE=mode, MAX_ROUNDS=20), pytest.raises(RunError, match="MAX_ROUNDS=20"):
            paddle.static.Executor().run(main, feed=fed(30), fetch_list=outs)
        states.append(session.generator().get_state())
    assert states == [(5, 20)] * 2


def test_functions_made_static_draw_in_loops_as_eager_calls_do():
    paddle.disable_static()
    x, found = paddle.to_tensor(fed(0)["x"]), []

    @paddle.jit.to_static
    def walked(x, n):
        for i in range(n):
            x = F.dropout(x, 0.3)
            if i % 2 == 0:
                x = x + paddle.uniform(SHAPE)
        return x

    for mode in ("off", "eager"):
        paddle.seed(3)
        with flags(COMPILE=mode), paddle.no_grad():
            runs = [walked(x, paddle.to_tensor(n)).numpy() for n in (0, 1, 6, 6)]
        found.append([*runs, session.generator().get_state()])
    assert all(np.array_equal(a, b) for a, b in zip(*found, strict=True))
    assert (found[0][2] != found[0][3]).any()


def test_threads_never_draw_the_same():
    def build():
        _, n = given()

        def body(i, h):
            return [i + 1, paddle.concat([h[1:], paddle.uniform([1], "float64")])]

        zeros = paddle.zeros([50], "float64")
        return [while_loop(lambda i, h: i < n, body, [number(0), zeros])[1]]

    programs = [program_of(build) for _ in range(3)]
    exe = paddle.static.Executor()
    paddle.disable_static()

    def drawn(turn):
        if turn % 4 == 3:
            return paddle.uniform([1], "float64").numpy()
        main, _, outs = programs[turn % 4]
        return exe.run(main, feed=fed(50), fetch_list=outs, scope=paddle.static.Scope())[0]

    paddle.seed(9)
    with flags(COMPILE="eager"), ThreadPoolExecutor(4) as pool:
        found = np.concatenate(list(pool.map(drawn, range(80))))
    assert session.generator().get_state() == (9, 60 * 50 + 20)
    assert len(np.unique(found)) == len(found)
