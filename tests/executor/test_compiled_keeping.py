"""What loops and branches keep where the gradient is in other code, or in none."""

import copy
import gc
import importlib.util
import weakref
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import numpy as np
import pytest

import scull as paddle
from scull.compiler.flow import Branch, Loop, controls
from scull.core.dtype import float32
from scull.core.meta import Meta
from scull.errors import RangeError
from scull.executor import call as calls
from scull.executor import keeping
from scull.executor.call import Call
from scull.executor.keeping import Keeping
from scull.executor.listed import ListOf, list_of
from scull.flags import flags
from scull.runtime.background import background
from scull.runtime.line import LINE
from scull.static.nn import while_loop
from scull.tensor import array_read, array_write, create_array
from scull.tensor.manipulation import tensor_array_to_tensor
from tests.executor.test_compiled_flow import Case, code_alone, normal, number, resident, trained
from tests.executor.test_compiled_lists import kinds
from tests.runtime.guard import guarded_array, needs_guards

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)


@pytest.fixture(autouse=True)
def dynamic():
    paddle.disable_static()


class Static:
    """A function made static, and what it and its gradients give, which are asked for outside."""

    def __init__(self, function, *shapes, **numbers):
        self.function, self.numbers = function, numbers
        self.values = [normal(*shape) / 2 for shape in shapes]  # rounds calm down

    def run(self, mode, times=1, **settings):
        """Results and gradients of so many calls, which gradients may have to wait for."""
        paddle.seed(3)
        function = paddle.jit.to_static(self.function)
        found, waiting = [], []
        with flags(COMPILE=mode, **settings):
            for _ in range(times):
                given = [paddle.to_tensor(v, stop_gradient=False) for v in self.values]
                out = function(*given, **{n: paddle.to_tensor(v) for n, v in self.numbers.items()})
                found.append(out.numpy())
                waiting.append((given, (out * out).sum()))
            for given, loss in waiting:
                loss.backward()
                found += [np.zeros(1) if x.grad is None else x.grad.numpy() for x in given]
        return found

    def agrees(self):
        """Both give the same, by code alone; what kept came, in order."""
        want, seen = self.run("off", times=2), []
        with code_alone(), read_by_code_alone(), watched(seen):
            got = self.run("eager", times=2)
        for x, y in zip(got, want, strict=True):
            np.testing.assert_allclose(x, y, rtol=2e-4, atol=2e-6)
        return seen


def watched(seen):
    """Within the block the forms of all that leaves code come into a list."""
    made = Keeping.__init__

    def noting(self, form, *rest):
        seen.append(form)
        made(self, form, *rest)

    return mock.patch.object(Keeping, "__init__", noting)


def read_by_code_alone():
    """Within the block no instruction reads what code kept."""

    def refused(*_):
        raise AssertionError("an instruction reads what code kept")

    return mock.patch.object(keeping, "last_first", refused)


def rounds(x, weight, n):
    for _ in range(n):
        x = paddle.tanh(paddle.matmul(x, weight)) + 0.1 * x
    return x


@pytest.mark.parametrize("count", [0, 1, 3, 16, 17, 100])
def test_gradients_outside_a_static_function_are_code_for_any_number_of_rounds(count):
    seen = Static(rounds, (2, 3), (3, 3), n=np.array(count)).agrees()
    assert len(seen) == 2 and seen[0] == seen[1] and seen[0].repeats


def nested(x, weight, n):
    total = paddle.zeros_like(x)
    for i in range(n):
        for j in range(i + 1):
            if paddle.mean(x) > 0.0:
                x = paddle.sin(x * weight) - 0.2
            else:
                x = x * x + 0.3 * weight
            total = total + x * paddle.cast(j + 1, "float32")
        x = x + 0.1 * total
    return total


@pytest.mark.parametrize("count", [0, 1, 6])
def test_loops_and_branches_within_a_round_are_read_where_they_lie(count):
    seen = Static(nested, (4,), (4,), n=np.array(count)).agrees()
    (inner,) = {x for x in seen[0].saved if isinstance(x, keeping.Form)}
    assert seen[0].repeats and inner.repeats


def chosen(x, weight, n):
    if n > 2:
        for _ in range(n):
            x = paddle.tanh(x * weight)
    else:
        x = paddle.exp(x) * weight
    return x


@pytest.mark.parametrize("count", [0, 3, 20])
def test_what_a_branch_makes_may_not_be_there_for_its_gradient(count):
    seen = Static(chosen, (4,), (4,), n=np.array(count)).agrees()
    assert len(seen) == 4 and {form.repeats for form in seen} == {False}
    assert [bool(form.stacks) for form in seen[:2]] == [True, False]


def dropped(x, weight, n):
    for _ in range(n):
        x = paddle.nn.functional.dropout(paddle.matmul(x, weight), 0.4)
    return x


def test_masks_of_rounds_are_kept():
    assert Static(dropped, (4, 5), (5, 5), n=np.array(7)).agrees()


def listed(x, weight, n):
    kept = []
    for _ in range(n):
        x = paddle.tanh(paddle.matmul(x, weight))
        kept.append(x)
    return paddle.stack(kept) * paddle.concat(kept).mean()


@pytest.mark.parametrize("count", [1, 5, 40])
def test_lists_of_gradients_come_from_instructions_into_code(count):
    assert Static(listed, (2, 3), (3, 3), n=np.array(count)).agrees()


@pytest.mark.parametrize("gap", [0, 2])
def test_a_list_from_elsewhere_may_have_gaps_and_grows_in_code(static, gap):
    def build(x, n):
        held = paddle.assign(array_write(x, number(4), create_array("float32")))
        if gap:
            array_write(x * 3.0, number(gap), held)
        stacked = joined_of(x, n)[1]
        weights = paddle.cast(paddle.cumsum(paddle.ones_like(stacked), 0), "float32")
        loss = paddle.sum(stacked * stacked * weights) + paddle.mean(array_read(held, number(4)))
        return [trained(loss), *paddle.static.gradients([loss], [x])]

    case = Case(build, x=normal(3, 5), n=np.array([17]))
    want = case.run("off")
    with code_alone():
        got = case.run("eager")
    for x, y in zip(got, want, strict=True):
        np.testing.assert_allclose(x, y, rtol=2e-4, atol=2e-6)


def test_a_list_is_laid_down_with_its_gaps_and_refused_where_a_tensor_is_another():
    form = ListOf(Meta((2, 3), float32))
    tensors = [normal(2, 3), None, normal(3, 2).T]
    words, length, rows = form.laid(tensors)
    assert words[0] == rows.ctypes.data and length.tolist() == [3] and words[2] == rows.shape[1]
    assert rows[:, -LINE].tolist() == [1, 0, 1]
    for row, x in zip(rows[[0, 2]], [tensors[0], tensors[2]], strict=True):
        assert np.array_equal(row[:24].view(np.float32).reshape(2, 3), x)
    assert form.laid(None)[1].tolist() == form.laid([])[1].tolist() == [0]
    assert form.laid([normal(3)]) is None and form.laid([np.zeros((2, 3))]) is None
    assert form.laid(normal(2, 3)) is None
    assert list_of(tensors) == form and list_of([]) is list_of([None, normal(3), normal(2)]) is None


def test_code_that_comes_later_agrees_with_instructions_before():
    case = Static(rounds, (2, 3), (3, 3), n=np.array(9))
    want = case.run("off")
    with flags(CACHE_DIR="off", COMPILE="tiered"):
        function = paddle.jit.to_static(rounds)
        for _ in range(6):
            x, weight = (paddle.to_tensor(v, stop_gradient=False) for v in case.values)
            out = function(x, weight, paddle.to_tensor(9))
            (out * out).sum().backward()
            for a, b in zip((out, x.grad, weight.grad), want, strict=True):
                np.testing.assert_allclose(a.numpy(), b, rtol=2e-4, atol=2e-6)
            background().wait()
        with read_by_code_alone(), code_alone(), watched(seen := []):
            function(x, weight, paddle.to_tensor(9)).sum().backward()
        assert len(seen) == 1


def test_code_of_both_functions_comes_with_one_run():
    case = Static(rounds, (2, 3), (3, 3), n=np.array(9))
    with flags(CACHE_DIR="off", COMPILE="tiered", CODE_FROM_RUN=4):
        function, found = paddle.jit.to_static(rounds), []
        for _ in range(5):
            x, weight = (paddle.to_tensor(v, stop_gradient=False) for v in case.values)
            with watched(seen := []):
                function(x, weight, paddle.to_tensor(9)).sum().backward()
            found.append(len(seen))
    assert found[:3] == [0, 0, 0] and found[3] == found[4] > 0


def read_as_rows():
    """Within the block code that what was kept comes into finds nothing that it can take."""
    return mock.patch.object(keeping.Form, "laid", lambda form, value: None)


@pytest.mark.parametrize("function", [rounds, nested, chosen, dropped, listed])
@pytest.mark.parametrize("count", [1, 18])
def test_instructions_read_what_code_kept(function, count):
    shapes = ((4,), (4,)) if function in (nested, chosen) else ((4, 4), (4, 4))
    case = Static(function, *shapes, n=np.array(count))
    with read_as_rows():
        got = case.run("eager")
    for x, y in zip(got, case.run("off"), strict=True):
        np.testing.assert_allclose(x, y, rtol=2e-4, atol=2e-6)


def test_code_runs_on_where_instructions_kept():
    case = Static(rounds, (2, 3), (3, 3), n=np.array(4))
    want, enter = case.run("off"), Call.__call__

    def failing(call, frame):
        if call.keeps:
            calls.run(call.plan, call.rows, frame)
            return ()
        return enter(call, frame)

    with mock.patch.object(Call, "__call__", failing):
        got = case.run("eager")
    for x, y in zip(got, want, strict=True):
        np.testing.assert_allclose(x, y, rtol=2e-4, atol=2e-6)


def test_a_gradient_that_is_asked_for_again_finds_all_there():
    function = paddle.jit.to_static(rounds)
    found = []
    with flags(COMPILE="eager"), read_by_code_alone():
        x = paddle.to_tensor(normal(2, 3), stop_gradient=False)
        loss = function(x, paddle.to_tensor(normal(3, 3)), paddle.to_tensor(20)).sum()
        for _ in range(3):
            x.clear_gradient()
            loss.backward(retain_graph=True)
            found.append(x.grad.numpy().copy())
    assert np.array_equal(found[0], found[1]) and np.array_equal(found[0], found[2])


def test_second_derivatives_are_those_of_instructions():
    found = []
    for mode in ("off", "eager"):
        x = paddle.to_tensor(normal(2, 3), stop_gradient=False)
        with flags(COMPILE=mode):
            y = paddle.jit.to_static(rounds)(x, paddle.to_tensor(normal(3, 3)), paddle.to_tensor(3))
            (dx,) = paddle.grad(y.sum(), x, create_graph=True)
            (dx * dx).sum().backward()
        found.append([dx.numpy(), x.grad.numpy()])
    for want, got in zip(*found, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-6)


def test_threads_keep_apart_what_they_kept():
    function, weight = paddle.jit.to_static(rounds), normal(3, 3)

    def run(count):
        x = paddle.to_tensor(normal(2, 3), stop_gradient=False)
        function(x, paddle.to_tensor(weight), paddle.to_tensor(count)).sum().backward()
        return x.grad.numpy()

    numbers = [*range(1, 40)] * 3
    with flags(COMPILE="eager"):
        alone = [run(n) for n in numbers]
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(run, numbers))
    assert all(map(np.array_equal, alone, together))


@pytest.fixture
def static(dynamic):
    paddle.enable_static()
    yield
    paddle.disable_static()


def joined_of(x, n):
    """The states of a layer, as many as the run tells, side by side."""
    weight = paddle.create_parameter([x.shape[1]] * 2, "float32")

    def body(i, h, held):
        h = paddle.tanh(paddle.matmul(h, weight))
        return [i + 1, h, array_write(h, i, held)]

    first = [number(0), x, create_array("float32")]
    _, h, held = while_loop(lambda i, h, held: i < n, body, first)
    return h, tensor_array_to_tensor(held, axis=0, use_stack=True)[0]


@pytest.mark.parametrize("count", [1, 4, 40])
def test_a_training_step_through_a_join_of_unknown_length_is_code_around_it(static, count):
    def build(x, n):
        h, states = joined_of(x, n)
        return [trained(paddle.mean(states * states) + paddle.mean(h)), h]

    case = Case(build, x=normal(3, 5), n=np.array([count]))
    want = case.run("off", times=3)
    with code_alone(), read_by_code_alone():
        got = case.run("eager", times=3)
    for x, y in zip(got, want, strict=True):
        np.testing.assert_allclose(x, y, rtol=2e-4, atol=2e-6)
    loops = [kind for kind in kinds(case) if isinstance(kind, int) and kind]
    assert loops[0] == 1 and len(loops) == 2  # the states; back through them, and the update
    assert " tells where lies what " in str(case.calls[0].native.region)


def test_a_branch_whose_gradient_is_behind_an_instruction(static):
    def build(x, n):
        weight = paddle.create_parameter([4], "float32")

        def walked():
            body = lambda i, h: [i + 1, paddle.sin(h * weight) + h]  # noqa: E731
            return while_loop(lambda i, h: i < n, body, [number(0), x])[1]

        y = paddle.static.nn.cond(n > 1, walked, lambda: x + weight)
        return trained(paddle.mean(paddle.topk(y, 2)[0] ** 2))

    for n in (0, 3, 20):
        case = Case(build, x=normal(4), n=np.array([n]))
        want = case.run("off")
        with code_alone(), read_by_code_alone():
            got = case.run("eager")
        for x, y in zip(got, want, strict=True):
            np.testing.assert_allclose(x, y, rtol=2e-4, atol=2e-6)
        regions = [list(controls(call.native.region.nodes)) for call in case.calls]
        assert sum(any(isinstance(x, Branch) for x in nodes) for nodes in regions) == 2
        forms = [form for call in case.calls for form in call.keeps]
        assert any(form.stacks and not form.repeats for form in forms)


def test_what_is_kept_lives_as_long_as_somebody_may_ask_for_gradients():
    function, alive, made = paddle.jit.to_static(rounds), [], Keeping.__init__

    def noting(self, *rest):
        made(self, *rest)
        alive.append(weakref.ref(self))

    with flags(COMPILE="eager"), mock.patch.object(Keeping, "__init__", noting):
        x = paddle.to_tensor(normal(2, 3), stop_gradient=False)
        weight, n = paddle.to_tensor(normal(3, 3)), paddle.to_tensor(5)
        asked, unasked = (function(x, weight, n).sum() for _ in range(2))
        assert len(alive) == 2 and all(ref() is not None for ref in alive)
        with pytest.raises(TypeError, match="has one owner"):
            copy.copy(alive[0]())
        del unasked
        gc.collect()
        assert [ref() is None for ref in alive] == [False, True]
        asked.backward()
        gc.collect()
        assert [ref() is None for ref in alive] == [True, True]


@pytest.mark.skipif(not importlib.util.find_spec("resource"), reason="no /proc/self/statm to read")
def test_what_leaves_is_freed_whoever_asks_for_it_and_after_errors():
    def walked(x, places, n):
        for i in range(n):
            x = paddle.tanh(x) + paddle.nn.functional.embedding(places + i % 2, x)[0] * 0.1
        return paddle.nn.functional.embedding(places, x)

    function = paddle.jit.to_static(walked)
    x = paddle.to_tensor(normal(5, 4000), stop_gradient=False)
    sizes = []
    with flags(COMPILE="eager"):
        for turn in range(120):
            n = paddle.to_tensor(10)
            loss = function(x, paddle.to_tensor([turn % 4]), n).sum()
            if turn % 3:
                loss.backward()
            if turn % 5 == 0:
                with pytest.raises(RangeError):
                    function(x, paddle.to_tensor([5]), n)
            sizes.append(resident())
    assert sizes[-1] - sizes[20] < 30 * 2**20  # 100 runs that lose theirs would take 400 MB


@needs_guards
def test_gradients_stay_within_what_was_kept(monkeypatch):
    monkeypatch.setattr(calls, "aligned", lambda size: guarded_array(size, np.uint8))
    Static(nested, (5,), (5,), n=np.array(4)).agrees()
    Static(listed, (3, 3), (3, 3), n=np.array(17)).agrees()


def test_pages_about_a_step_tell_what_stays_between_its_regions(static, tmp_path):
    def build(x, n):
        return trained(paddle.mean(joined_of(x, n)[1] ** 2))

    case = Case(build, x=normal(3, 5), n=np.array([3]))
    case.exe.run(case.startup)
    page = tmp_path / "page.html"
    case.exe.explain(case.main, case.feed, case.out, str(page), machine_code=True)
    assert "nobody knows ahead how many tensors a list will hold" in page.read_text()


def test_loops_are_counted(static):
    def build(x, n):
        return trained(paddle.mean(joined_of(x, n)[1] ** 2))

    case = Case(build, x=normal(3, 5), n=np.array([3]))
    case.run("eager")
    nodes = [x for call in case.calls for x in controls(call.native.region.nodes)]
    assert sum(isinstance(x, Loop) and x.undoes is not None for x in nodes) == 1
