"""Programs that once became wrong code, each as small as it can be."""

import importlib.util

import numpy as np
import pytest

import scull as paddle
from scull.flags import flags
from tests.ops.closeness import check_close

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)


@pytest.fixture(autouse=True)
def static_mode():
    """Programs are written."""
    paddle.enable_static()
    yield
    paddle.disable_static()


def check(build, *shapes):
    """What a Program fetches twice in a row is what the instructions give."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    arrays = [np.random.default_rng(n).normal(size=s).astype("float32") for n, s in pairs(shapes)]
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(main, startup):
        given = [paddle.static.data(f"x{n}", s) for n, s in pairs(shapes)]
        for each in given:
            each.stop_gradient = False
        fetches = build(*given)
    feed = {f"x{n}": x for n, x in enumerate(arrays)}
    found = []
    for mode in ("eager", "off"):
        exe, scope = paddle.static.Executor(), paddle.static.Scope()
        with paddle.static.scope_guard(scope):
            exe.run(startup)
            with flags(COMPILE=mode):
                found.append([exe.run(main, feed=feed, fetch_list=fetches) for _ in range(2)])
    check_close(*found, "the machine code")


def pairs(shapes):
    return enumerate(map(list, shapes))


def parameter(*shape):
    start = paddle.nn.initializer.Assign(np.linspace(-1, 1, int(np.prod(shape))).reshape(shape))
    return paddle.create_parameter(list(shape), "float32", default_initializer=start)


def test_an_update_that_is_copied_late_keeps_its_memory_until_then():
    def build(x, y):
        early = x + parameter(4, 1, 3)
        late = paddle.nn.functional.avg_pool2d(y, 2, 1)
        loss = paddle.sum(paddle.tanh(early)) + paddle.sum(paddle.tanh(late))
        paddle.optimizer.SGD(0.125).minimize(loss)
        return [early, late, loss]

    check(build, (4, 8, 3), (2, 1, 5, 6))


def test_a_sum_along_an_axis_that_its_terms_do_not_vary_with():
    def build(x):
        rows = paddle.tile(paddle.sum(x, [0, 2], keepdim=True), [3, 3, 1])
        return [rows, paddle.sum(paddle.tanh(rows * 0.125))]

    check(build, (3, 5, 4))


@pytest.mark.parametrize("size", [2, 4, 34])
def test_parts_of_one_element_or_more_are_put_together_again(size):
    def build(x):
        parts = paddle.split(x, 2, 1)
        loss = sum(paddle.sum(paddle.tanh(each)) for each in parts)
        return [*parts, loss, *paddle.static.gradients([loss], [x])]

    check(build, (17, size))


def test_results_that_are_one_array_or_an_operand_are_copies():
    def build(x, y):
        loss = paddle.sum(paddle.tanh(x + y))
        return [loss, *paddle.static.gradients([loss], [x, y]), paddle.assign(x)]

    check(build, (5, 7), (5, 7))


def updated(variable, by):
    """Write over a variable."""
    inputs = {"Param": [variable], "Grad": [by], "LearningRate": [paddle.full([1], 0.5)]}
    block = paddle.static.default_main_program().current_block()
    block.append_op("sgd", inputs, {"ParamOut": [variable]}, {})


def test_a_value_made_and_written_over_in_one_region_leaves_it():
    def build(x):
        value = paddle.tanh(x)
        updated(value, x)
        return [value, paddle.sort(value)]

    check(build, (3, 3))


def test_what_is_renewed_before_it_is_written_over_leaves_its_old_memory_alone():
    def build(x):
        value = paddle.sort(x)
        before = paddle.flip(value, [0])
        paddle.assign(x * 2.0, output=value)
        updated(value, x)
        return [before, value]

    check(build, (3, 3))


def test_buffers_that_lie_in_one_another_are_written_by_instructions():
    def build(x, y):
        block = paddle.static.default_main_program().global_block()
        whole = block.create_var("whole", shape=[18], dtype="float32")
        parts = [block.create_var(f"p{i}", shape=[3, 3], dtype="float32") for i in (0, 1)]
        attrs = {"dtype": 5, "copy_data": True, "use_align": False}
        outputs = {"Output": parts, "FusedOutput": whole}
        block.append_op("coalesce_tensor", {"Input": [x, y]}, outputs, attrs)
        before = parts[0] * 2.0
        updated(whole, paddle.ones([18]))
        return [before, *[each + 1.0 for each in parts]]

    check(build, (3, 3), (3, 3))
