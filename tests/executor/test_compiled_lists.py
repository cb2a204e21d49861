"""Lists of tensors in machine code: how they grow, what is read of them, their gradients."""

import importlib.util

import numpy as np
import pytest

import scull as paddle
from scull.compiler.flow import Branch, Loop, controls
from scull.errors import RangeError
from scull.executor.call import Call
from scull.executor.compiled import Specialised, sizes_of
from scull.flags import flags
from scull.static.nn import cond, while_loop
from scull.tensor import array_length, array_read, array_write, create_array
from scull.tensor.manipulation import tensor_array_to_tensor
from tests.executor.test_compiled_flow import (
    Case,
    code_alone,
    normal,
    number,
    resident,
    trained,
)

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)


@pytest.fixture(autouse=True)
def static():
    paddle.enable_static()
    yield
    paddle.disable_static()


def times(count, body, *first):
    """What so many rounds leave; `body` takes the number of the round."""
    bound = number(count) if isinstance(count, int) else count
    found = while_loop(
        lambda i, *rest: i < bound, lambda i, *rest: [i + 1, *body(i, *rest)], [number(0), *first]
    )
    return found[1:]


def states(x, count, steps=None):
    """The list of the states of a layer, which begins with `x`."""
    weight = paddle.create_parameter([x.shape[1]] * 2, "float32")
    held = create_array("float32")

    def body(i, h, held):
        h = paddle.tanh(paddle.matmul(h, weight))
        array_write(h, i if steps is None else steps(i), held)
        return [h, held]

    return times(count, body, x, held)[1]


@pytest.mark.parametrize("count", [1, 7, 40])
def test_a_training_step_over_stacked_states_is_one_function(count):
    def build(x):
        stacked, sizes = tensor_array_to_tensor(states(x, count), axis=0, use_stack=True)
        return [trained(paddle.mean(stacked * stacked)), stacked, sizes]

    case = Case(build, x=normal(3, 5))
    assert case.agrees().count(Loop) == 4
    assert " holds " in str(case.calls[0].native.region)


@pytest.mark.parametrize(("axis", "stacks"), [(0, False), (1, False), (1, True), (-1, True)])
def test_tensors_stand_side_by_side_along_any_axis(axis, stacks):
    def build(x):
        found, sizes = tensor_array_to_tensor(states(x, 4), axis=axis, use_stack=stacks)
        weights = paddle.cast(paddle.cumsum(paddle.ones_like(found), axis), "float32")
        return [trained(paddle.mean(found * found * weights)), found, sizes]

    Case(build, x=normal(2, 3)).agrees()


def test_sequences_of_any_length_are_written_step_by_step():
    def build(x):
        cell = paddle.nn.GRUCell(4, 6)
        steps = paddle.cast(paddle.shape(x)[1], "int64")
        held = create_array("float32")

        def body(i, h, held):
            h, _ = cell(paddle.squeeze(paddle.gather(x, i, axis=1), 1), h)
            return [h, array_write(h, i, held)]

        first = paddle.zeros([3, 6])
        held = times(paddle.reshape(steps, [1]), body, first, held)[1]
        out, _ = tensor_array_to_tensor(held, axis=1, use_stack=True)
        return [trained(paddle.mean(out * out)), out]

    for length in (1, 6):
        Case(build, x=normal(3, length, 4)).agrees()


def test_places_come_in_any_order_and_again():
    def build(x, places):
        held = states(x, 6, lambda i: number(5) - i)

        def body(i, total, held):
            place = paddle.gather(places, i)
            y = array_read(held, place)
            array_write(y * 0.5 + x, place, held)
            return [total + y * paddle.cast(i + 1, "float32"), held]

        total, held = times(5, body, paddle.zeros([2, 3]), held)
        last = array_read(held, paddle.gather(places, number(0)))
        loss = trained(paddle.sum(total * total) + paddle.mean(last))
        return [loss, total, last, *paddle.static.gradients([loss], [x])]

    case = Case(build, x=normal(2, 3), places=np.array([1, 4, 1, 0, 1]))
    assert Loop in case.agrees()


@pytest.mark.parametrize("share", [0, 1, 3])
def test_branches_append_as_often_as_they_run(share):
    def build(x, chances):
        held = array_write(x, number(0), create_array("float32"))

        def body(i, h, held):
            h = paddle.sin(h)

            def append():
                array_write(h, array_length(held), held)

            cond(paddle.gather(chances, i) < 1, append, None)
            return [h + array_read(held, array_length(held) - 1) * 0.1, held]

        h, held = times(50, body, x, held)
        last = array_read(held, array_length(held) - 1)
        loss = paddle.mean(h * last)
        return [loss, h, array_length(held), *paddle.static.gradients([loss], [x])]

    chances = np.arange(50) % share if share else np.ones(50, "int64")
    case = Case(build, x=normal(2, 3), chances=chances)
    assert Branch in case.agrees()
    assert case.run("eager", times=1)[2].item() == 1 + (chances < 1).sum()


def test_a_list_that_rounds_only_read_gets_gradients_from_all_of_them():
    def build(x):
        held = states(x, 3)

        def body(i, h):
            return [h * paddle.sin(array_read(held, i % 3) + array_read(held, number(1)))]

        (h,) = times(7, body, x)
        loss = trained(paddle.mean(h))
        return [loss, h, *paddle.static.gradients([loss], [x])]

    Case(build, x=normal(2, 4)).agrees()


def test_lists_within_rounds_begin_anew():
    def build(x):
        scale = paddle.create_parameter([3], "float32")

        def outer(i, h):
            held = array_write(h, number(0), create_array("float32"))

            def inner(j, g, held):
                g = paddle.tanh(g * scale) + array_read(held, j)
                return [g, array_write(g, j + 1, held)]

            _, held = times(i + 1, inner, h, held)
            length = paddle.cast(array_length(held), "float32")
            return [
                array_read(held, array_length(held) - 1) * 0.5
                + array_read(held, number(0)) / length
            ]

        (h,) = times(4, outer, x)
        loss = trained(paddle.mean(h * h))
        return [loss, h, *paddle.static.gradients([loss], [x])]

    assert Case(build, x=normal(2, 3)).agrees().count(Loop) == 6  # gradients are asked for twice


def test_a_copy_of_a_list_is_a_list_of_its_own():
    def build(x, n):
        held = states(x, 3)
        copy = paddle.assign(held)
        array_write(x * 9.0, number(1), copy)
        array_write(x, number(4), copy)
        chosen = cond(n > 0, lambda: paddle.assign(held), lambda: paddle.assign(copy))
        array_write(x * 3.0, number(2), chosen)
        lists = (held, copy, chosen)
        parts = [array_read(v, number(k)) for v in lists for k in (1, 2)]
        loss = trained(paddle.sum(paddle.stack(parts) * paddle.stack(parts[::-1])))
        lengths = [array_length(v) for v in lists]
        return [loss, *lengths, *parts, *paddle.static.gradients([loss], [x])]

    for n in (0, 1):
        Case(build, x=normal(2, 3), n=np.array([n])).agrees()


def test_branches_in_rounds_hand_on_one_of_two_lists():
    def build(x, chances):
        begun = array_write(x, number(0), create_array("float32"))

        def body(i, h, held):
            def grown():
                more = paddle.assign(held)
                array_write(h * 0.5, array_length(more), more)
                return more

            held = cond(paddle.gather(chances, i) < 1, grown, lambda: paddle.assign(held))
            return [paddle.sin(h) + array_read(held, array_length(held) - 1), held]

        h, held = times(5, body, x, begun)
        loss = trained(paddle.mean(h * array_read(held, number(1))))
        return [loss, array_length(held), *paddle.static.gradients([loss], [x])]

    Case(build, x=normal(2, 3), chances=np.array([1, 0, 1, 0, 0])).agrees()


@pytest.mark.parametrize("dtype", ["int64", "bool", "float64", "float16"])
def test_lists_hold_tensors_of_any_type(dtype):
    def build(x):
        held = create_array(dtype)

        def body(i, held):
            y = paddle.cast(x + paddle.cast(i, "float32") > 1.0, "float32") + x
            return [array_write(paddle.cast(y, dtype), i, held)]

        (held,) = times(20, body, held)
        return tensor_array_to_tensor(held, axis=0, use_stack=True)[0]

    Case(build, x=normal(3)).agrees()


def failing(place):
    """Reads a list of three at a place, behind a step of training."""

    def build(x, place):
        held = states(x, 3)
        return trained(paddle.mean(array_read(held, place) * x))

    return Case(build, x=normal(2, 3), place=np.array([place]))


@pytest.mark.parametrize("place", [3, 17, -1])
def test_a_place_where_nothing_is_changes_nothing_and_is_told_as_ever(place):
    case, said = failing(2), []
    case.agrees()
    for mode in ("off", "eager"):
        scope = paddle.static.Scope()
        with paddle.static.scope_guard(scope), flags(COMPILE=mode):
            case.exe.run(case.startup)
            before = {n: np.array(c.value) for n, c in scope.cells.items()}
            with pytest.raises(RangeError) as error:
                case.exe.run(case.main, feed=case.feed | {"place": np.array([place])})
            assert all(np.array_equal(before[n], c.value) for n, c in scope.cells.items())
        said.append(str(error.value).splitlines()[:2])
    assert said[0] == said[1]


def test_a_gap_in_a_list_is_told_of_but_has_a_gradient_of_zeros():
    def build(x, place):
        held = array_write(x, number(3), create_array("float32"))
        array_write(x * 2.0, number(0), held)
        loss = paddle.sum(array_read(held, place))
        return [loss, *paddle.static.gradients([loss], [x])]

    for place in (0, 3):
        Case(build, x=normal(2), place=np.array([place])).agrees()
    case = Case(build, x=normal(2), place=np.array([2]))
    with pytest.raises(RangeError, match="nothing was written at place 2 of a list of 4 tensors"):
        case.run("eager")


def reasons(case):
    """Why the steps of a Program stay instructions."""
    case.run("eager", times=1)
    bound = [b for b in case.main.plans.values() if b.tier is not None][-1]
    frame = bound.plan.blank.copy()
    for (_, slot, _), value in zip(bound.plan.feeds, case.feed.values(), strict=True):
        frame[slot] = value
    special = Specialised(bound.plan, sizes_of(frame), anew=True)
    special.steps()
    return [*special.reasons.values()]


def test_tensors_of_several_shapes_in_one_list_stay_with_the_instructions():
    def build(x):
        held = array_write(x, number(0), create_array("float32"))
        array_write(paddle.sum(x, axis=0), number(1), held)
        array_write(x * 3.0, number(2), held)
        longest = paddle.cast(array_length(held), "float32")
        return array_read(held, number(1)) * 2.0 + array_read(held, number(0))[0] * longest

    case = Case(build, x=normal(2, 3))
    np.testing.assert_allclose(case.run("eager")[0], case.run("off")[0], rtol=1e-6)
    told = "a list holds tensors float32[2, 3] and float32[3]"
    assert told in reasons(case)


def kinds(case):
    """Of the steps of a Program: a region with so many loops, or the type of an operator."""
    (bound,) = [b for b in case.main.plans.values() if b.tier is not None][-1:]
    steps = {id(s.call): s.operator.type for s in bound.plan.steps}
    (rows,) = bound.tier.variants.values()
    loops = [
        sum(isinstance(x, Loop) for x in controls(c.native.region.nodes))
        if isinstance(c, Call)
        else steps[id(c)]
        for c, *_ in rows
    ]
    return loops


@pytest.mark.parametrize("count", [1, 4, 40])
def test_a_list_of_any_length_leaves_the_code_for_those_that_join_it(count):
    def build(x, n):
        held = create_array("float32")
        h, held = times(n, lambda i, h, held: [h * 1.5, array_write(h, i, held)], x, held)
        return [tensor_array_to_tensor(held, axis=0, use_stack=True)[0], h]

    case = Case(build, x=normal(2, 3), n=np.array([count]))
    want = case.run("off")
    with code_alone():
        got = case.run("eager")
    for x, y in zip(got, want, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-6)
    assert kinds(case) == [1, "tensor_array_to_tensor"]
    assert "nobody knows ahead how many tensors a list will hold" in reasons(case)


def test_a_list_without_tensors_leaves_the_code_as_one():
    def build(x, n):
        held = create_array("float32")
        (held,) = times(n, lambda i, held: [array_write(x, i, held)], held)
        return tensor_array_to_tensor(held, axis=0, use_stack=True)[0]

    for mode in ("off", "eager"):
        with pytest.raises(RangeError, match="a list without tensors is no tensor"):
            Case(build, x=normal(2, 3), n=np.array([0])).run(mode)


def test_a_gap_leaves_the_code_as_one():
    def build(x, place):
        held = array_write(paddle.tanh(x), place, create_array("float32"))
        array_write(x * 2.0, number(0), held)
        return tensor_array_to_tensor(held, axis=0)[0]

    case = Case(build, x=normal(2, 3), place=np.array([1]))
    with code_alone():
        assert case.run("eager")[0].shape == (4, 3)
    np.testing.assert_allclose(case.run("eager")[0], case.run("off")[0], rtol=1e-6)
    assert kinds(case) == [0, "tensor_array_to_tensor"]
    with pytest.raises(RangeError, match="nothing was written at place 1 of a list of 4 tensors"):
        Case(build, x=normal(2, 3), place=np.array([3])).run("eager")


def test_what_leaves_is_found_again_by_another_run_of_the_same_program():
    def build(x, place):
        held = array_write(paddle.tanh(x), place, create_array("float32"))
        return tensor_array_to_tensor(array_write(x, number(0), held), axis=1)[0]

    found = []
    for _ in range(2):  # the second finds what the steps became on the disk
        case = Case(build, x=normal(2, 3), place=np.array([1]))
        found.append(case.run("eager")[0])
    assert np.array_equal(*found) and found[0].shape == (2, 6)


def test_functions_made_static_keep_lists_in_code():
    paddle.disable_static()
    x, found = paddle.to_tensor(normal(3, 4)), []

    @paddle.jit.to_static
    def walked(x):
        kept, total = [], paddle.zeros([4])
        for _ in range(paddle.shape(x)[0] * 4):
            x = paddle.sin(x * 1.3)
            if paddle.mean(x) > 0.1:
                kept.append(x)
            total = total + paddle.mean(x, axis=0)
        if len(kept) > 2:
            total = total + kept[-1][0] * kept[0][1]
        return total

    for mode in ("off", "eager"):
        with flags(COMPILE=mode), paddle.no_grad():
            found.append([walked(x).numpy(), walked(x * 2.0).numpy()])
    for want, got in zip(*found, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5)


@pytest.mark.skipif(not importlib.util.find_spec("resource"), reason="no /proc/self/statm to read")
def test_what_lists_hold_is_freed_however_a_run_ends():
    def build(x, place):
        held = create_array("float32")
        (held,) = times(place + 30, lambda i, held: [array_write(x + 1.0, i, held)], held)
        joined, _ = tensor_array_to_tensor(held, axis=0)
        return [paddle.mean(array_read(held, place * 2)), paddle.max(joined)]

    case = Case(build, x=normal(4000), place=np.array([3]))
    with flags(COMPILE="eager"):
        sizes = []
        for turn in range(300):
            feed = case.feed | {"place": np.array([turn % 41])}
            if turn % 41 >= 30:
                with pytest.raises(RangeError):
                    case.exe.run(case.main, feed=feed, fetch_list=case.out)
            else:
                case.exe.run(case.main, feed=feed, fetch_list=case.out)
            sizes.append(resident())
    assert sizes[-1] - sizes[50] < 20 * 2**20  # 250 runs that lose theirs would take 250 MB
