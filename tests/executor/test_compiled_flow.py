"""Loops and branches as machine code: what they give, what they keep, how they end."""

import importlib.util
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from unittest import mock

import numpy as np
import pytest

import scull as paddle
from scull.compiler import native
from scull.compiler.flow import Branch, Loop, controls
from scull.errors import RangeError, RunError, UninitializedError
from scull.executor import call as calls
from scull.executor.call import Call
from scull.executor.compiled import Specialised, sizes_of
from scull.flags import flags
from scull.static.nn import cond, while_loop
from tests.runtime.guard import guarded_array, needs_guards

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)


@pytest.fixture(autouse=True)
def static():
    paddle.enable_static()
    yield
    paddle.disable_static()


@contextmanager
def code_alone():
    """Within the block no instructions run in the place of code that ended early."""

    def refused(plan, *_):
        raise AssertionError(f"instructions ran in the place of code:\n{plan}")

    with mock.patch.object(calls, "run", refused):
        yield


class Case:
    """A Program, what it is fed and what is fetched; both ways it runs begin with equal values."""

    def __init__(self, build, **feed):
        self.main, self.startup = paddle.static.Program(), paddle.static.Program()
        self.main.random_seed = self.startup.random_seed = 7
        self.feed = {n: np.asarray(v) for n, v in feed.items()}
        with paddle.static.program_guard(self.main, self.startup), paddle.utils.unique_name.guard():
            given = []
            for name, value in self.feed.items():
                x = paddle.static.data(name, value.shape, value.dtype.name)
                x.stop_gradient = value.dtype.kind != "f"
                given.append(x)
            found = build(*given)
        self.out = found if isinstance(found, list) else [found]
        self.exe, self.scopes = paddle.static.Executor(), []  # plans live as long as their scopes

    def run(self, mode, times=2, **settings):
        """What runs give one after another, and the values they leave in the scope."""
        scope, found = paddle.static.Scope(), []
        self.scopes.append(scope)
        with paddle.static.scope_guard(scope):
            self.exe.run(self.startup)
            with flags(COMPILE=mode, **settings):
                for _ in range(times):
                    found += self.exe.run(self.main, feed=self.feed, fetch_list=self.out)
        return found + [
            np.array(c.value) for _, c in sorted(scope.cells.items()) if c.value is not None
        ]

    @property
    def calls(self):
        """The regions that it became."""
        tiers = [b.tier for b in self.main.plans.values() if b.tier is not None]
        rows = [row for tier in tiers for rows in tier.variants.values() for row in rows]
        return [row[0] for row in rows if isinstance(row[0], Call)]

    def agrees(self, regions=1, **settings):
        """Both ways agree, and the whole Program is one region; its loops and branches."""
        want = self.run("off", **settings)
        with code_alone():
            got = self.run("eager", **settings)
        for x, y in zip(got, want, strict=True):
            np.testing.assert_allclose(x, y, rtol=2e-4, atol=2e-6)
        steps = [
            x
            for b in self.main.plans.values()
            if b.tier
            for v in b.tier.variants.values()
            for x in v
        ]
        assert [type(row[0]) for row in steps] == [Call] * regions
        return [type(x) for call in self.calls for x in controls(call.native.region.nodes)]


def trained(loss):
    """The loss, after an update of all parameters."""
    paddle.optimizer.SGD(0.1).minimize(loss)
    return loss


def normal(*shape):
    return np.random.default_rng(sum(shape)).normal(size=shape).astype("float32")


def number(value, dtype="int64"):
    return paddle.full([1], value, dtype)


def until_still(x, most=30):
    """A layer again and again, until it changes nothing; how often."""
    weight = paddle.create_parameter([x.shape[1]] * 2, "float32")
    bias = paddle.create_parameter([x.shape[1]], "float32", is_bias=True)

    def body(i, h, change):
        new = paddle.tanh(paddle.matmul(h, weight) + bias) * 0.5
        return [i + 1, new, paddle.reshape(paddle.sum((new - h) * (new - h)), [1])]

    return while_loop(
        lambda i, h, change: paddle.logical_and(i < number(most), change > 0.05),
        body,
        [number(0), x, number(1.0, "float32")],
    )


def test_a_training_step_through_a_loop_is_one_function():
    def build(x):
        rounds, h, _ = until_still(x)
        return [trained(paddle.mean(h * h)), rounds]

    case = Case(build, x=normal(6, 20))
    assert case.agrees() == [Loop, Loop]
    assert 0 < case.run("eager", times=1)[1] < 30
    text = str(case.calls[0].native.region)
    assert re.search(r"\nwhile t\d+, .* from t\d+.*:\n    kernel 1: ", text)
    assert "\nfor each row, the last first, " in text and "\n    kept: t" in text


@pytest.mark.parametrize("most", [0, 1, 40])
def test_loops_of_any_number_of_rounds_have_gradients(most):
    def build(x):
        return [
            trained(paddle.mean(until_still(x * 3.0, most)[1])),
            *paddle.static.gradients([x], [x]),
        ]

    Case(build, x=normal(3, 5)).agrees(times=3)


def test_loops_in_loops_with_branches_in_them_have_gradients():
    def build(x, n):
        scale = paddle.create_parameter([4], "float32")

        def inner(j, y):
            big = paddle.mean(y) > 0.1
            return [j + 1, cond(big, lambda: y * scale - 0.3, lambda: paddle.sin(y) + y)]

        def outer(i, y):
            _, y = while_loop(lambda j, y: j <= i, inner, [number(0), y])
            return [i + 1, paddle.tanh(y) * 1.5]

        _, y = while_loop(lambda i, y: i < n, outer, [number(0), x * scale])
        return trained(paddle.mean(y * y))

    for n in (0, 1, 4):
        kinds = Case(build, x=normal(4), n=np.array([n])).agrees()
        assert kinds.count(Loop) == 4 and Branch in kinds


def test_values_that_change_places_each_round():
    def build(x, y):
        swapped = while_loop(
            lambda i, a, b, c: i < number(3),
            lambda i, a, b, c: [i + 1, b, a, a + b],
            [number(0), x, y, x],
        )
        return [*swapped, x + y]

    assert Case(build, x=normal(5), y=normal(5) + 1).agrees() == [Loop]


def test_a_branch_gives_what_was_chosen_and_what_it_leaves_alone():
    def build(x, n):
        weight = paddle.create_parameter([7, 3], "float32")
        low = cond(n < 2, lambda: paddle.matmul(x, weight), lambda: paddle.zeros([5, 3]))
        case = paddle.static.nn.switch_case(
            n, {0: lambda: low * 2.0, 1: lambda: low + 1.0}, lambda: paddle.exp(low)
        )
        return trained(paddle.sum(case * case))

    for n in range(4):
        kinds = Case(build, x=normal(5, 7), n=np.array([n])).agrees()
        assert set(kinds) >= {Branch}


def outer_variable():
    """A variable around the block being written, which nothing gives a value."""
    block = paddle.static.default_main_program().global_block()
    return block.create_var(name="late", shape=[3], dtype="float32")


@pytest.mark.parametrize("form", ["loop", "branch"])
def test_what_a_block_gives_a_first_value_is_there_if_the_block_ran(form):
    def build(x, n):
        late = outer_variable()

        def body(i, h):
            paddle.assign(h * 2.0, output=late)
            return [i + 1, h + 1.0]

        if form == "loop":
            while_loop(lambda i, h: i < n, body, [number(0), x * 1.0])
        else:
            cond(n > 0, lambda: body(number(0), x) and None, lambda: None)
        return paddle.tanh(late)

    assert len(Case(build, x=normal(3), n=np.array([2])).agrees()) >= 1
    said = []
    for mode in ("eager", "off"):
        case = Case(build, x=normal(3), n=np.array([0]))
        with pytest.raises(UninitializedError) as error:
            case.run(mode)
        said.append(str(error.value).splitlines()[:2])
    assert said[0] == said[1] and "`late` has no value" in said[0][0]


def test_parameters_are_updated_within_a_loop():
    def build(x):
        step = paddle.static.create_global_var([1], 0.0, "float32", persistable=True, name="step")

        def body(i, h):
            paddle.increment(step, 1.0)
            return [i + 1, h + step]

        return while_loop(lambda i, h: i < number(5), body, [number(0), x])[1]

    assert Case(build, x=normal(2, 3)).agrees() == [Loop]


def test_a_loop_with_what_has_no_code_stays_an_instruction_that_says_why():
    def build(x):
        def body(i, h):
            return [i + 1, paddle.topk(h, 4)[0] * 2.0]

        return while_loop(lambda i, h: i < number(3), body, [number(0), paddle.tanh(x)])[1] + 1.0

    case = Case(build, x=normal(3, 4))
    (want, *_), (got, *_) = case.run("off"), case.run("eager")
    np.testing.assert_allclose(got, want, rtol=1e-5)
    (bound,) = [b for b in case.main.plans.values() if b.tier is not None]
    frame = bound.plan.blank.copy()
    for (_, slot, _), value in zip(bound.plan.feeds, case.feed.values(), strict=True):
        frame[slot] = value
    special = Specialised(bound.plan, sizes_of(frame))
    special.steps()
    (reason,) = [r for n, r in special.reasons.items() if bound.plan.steps[n].nested is not None]
    assert reason.startswith("`while` at ") and "`topk`: selection is no loop" in reason


def test_sizes_that_grow_by_the_round_stay_with_the_instructions():
    def build(x):
        def body(i, h):
            return [i + 1, paddle.concat([h, h])]

        return while_loop(lambda i, h: i < number(3), body, [number(0), x * 1.0])[1]

    case = Case(build, x=normal(3))
    assert case.run("eager")[0].shape == (24,)
    assert not any(list(controls(call.native.region.nodes)) for call in case.calls)


def test_an_index_out_of_range_within_a_loop_changes_nothing():
    def build(x, places):
        table = paddle.create_parameter([6, 4], "float32")

        def body(i, h):
            rows = paddle.nn.functional.embedding(places + i, table)
            return [i + 1, h + paddle.sum(rows, axis=0)]

        h = while_loop(lambda i, h: i < number(3), body, [number(0), x])[1]
        return trained(paddle.mean(h * h))

    case, scope = Case(build, x=normal(4), places=np.array([0, 2, 3])), paddle.static.Scope()
    case.agrees()
    said = []
    for mode in ("eager", "off"):
        with paddle.static.scope_guard(scope), flags(COMPILE=mode):
            case.exe.run(case.startup)
            before = {n: np.array(c.value) for n, c in scope.cells.items()}
            with pytest.raises(RangeError) as error:
                case.exe.run(case.main, feed=case.feed | {"places": np.array([0, 5, 1])})
            said.append(str(error.value).splitlines()[:2])
            assert all(np.array_equal(before[n], c.value) for n, c in scope.cells.items())
    assert said[0] == said[1]


def test_a_loop_that_does_not_end_is_told_of():
    def build(x):
        return while_loop(lambda h: paddle.sum(h) < 1e9, lambda h: [h * 1.0], [x])

    case = Case(build, x=normal(4))
    with flags(MAX_ROUNDS=100), pytest.raises(RunError, match="more than MAX_ROUNDS=100 times"):
        case.run("eager")
    (loop,) = (x for call in case.calls for x in controls(call.native.region.nodes))
    assert loop.most == 100


def test_threads_run_a_loop_at_the_same_time():
    def build(x, n):
        weight = paddle.create_parameter([8, 8], "float32")
        h = while_loop(
            lambda i, h: i < n,
            lambda i, h: [i + 1, paddle.tanh(paddle.matmul(h, weight))],
            [number(0), x],
        )[1]
        return [paddle.mean(h), *paddle.static.gradients([h], [weight])]

    case, x = Case(build, x=normal(3, 8), n=np.array([4])), normal(3, 8)

    def run(n):
        return case.exe.run(
            case.main, feed={"x": x, "n": np.array([n])}, fetch_list=case.out, scope=scope
        )

    scope = paddle.static.Scope()
    with paddle.static.scope_guard(scope), flags(COMPILE="eager"):
        case.exe.run(case.startup)
        numbers = list(range(40)) * 5
        alone = [run(n) for n in numbers]
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(run, numbers))
    for one, other in zip(alone, together, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@needs_guards
def test_loops_stay_within_their_memory(monkeypatch):
    monkeypatch.setattr(calls, "aligned", lambda size: guarded_array(size, np.uint8))
    assert calls.aligned is not native.aligned
    for shape in ((1, 1), (3, 5), (6, 17)):
        Case(lambda x: trained(paddle.mean(until_still(x, 20)[1])), x=normal(*shape)).agrees()


def resident():
    """The bytes of memory that this process has now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


@pytest.mark.skipif(not importlib.util.find_spec("resource"), reason="no /proc/self/statm to read")
def test_what_rounds_keep_is_freed_however_a_run_ends():
    def build(x, n, places):
        table = paddle.create_parameter([6, 4000], "float32")

        def body(i, h):
            return [i + 1, paddle.tanh(h) + 0.1 * h * h]

        h = while_loop(lambda i, h: i < n, body, [number(0), x])[1]
        row = paddle.nn.functional.embedding(places, table)
        return [paddle.mean(h * row), *paddle.static.gradients([paddle.mean(h * row)], [x])]

    case = Case(build, x=normal(4000), n=np.array([40]), places=np.array([1]))
    scope = paddle.static.Scope()
    with paddle.static.scope_guard(scope), flags(COMPILE="eager"):
        case.exe.run(case.startup)

        def run(place):
            feed = case.feed | {"places": np.array([place])}
            return case.exe.run(case.main, feed=feed, fetch_list=case.out)

        sizes = []
        for turn in range(400):
            run(turn % 6)
            if turn % 10 == 0:
                with pytest.raises(RangeError):
                    run(6)
            sizes.append(resident())
    assert sizes[-1] - sizes[20] < 20 * 2**20  # 400 runs that lose theirs would take 256 MB


def test_what_is_fed_in_steps_is_copied_beside_numbers_without_axes():
    def build(x):
        weight = paddle.create_parameter([3, 4], "float32")
        return trained(paddle.mean(weight * x))  # the rate of learning has no axes

    case = Case(build, x=normal(4, 3).T)
    assert not case.feed["x"].flags.c_contiguous
    case.agrees()
