"""Blocks within blocks within blocks: as deep as a Program has them, in every form."""

import sys
import threading
from contextlib import ExitStack, contextmanager

import numpy as np
import pytest

import scull as paddle
from scull.errors import ProgramError
from scull.files.program import bytes_of, program_of
from scull.flags import flags
from scull.ir import depth as module
from scull.ir.depth import DEEPEST, ROOM, room_for
from scull.ir.verify import verify
from scull.passes.dataflow import lowered
from scull.passes.unroll import unrolled
from scull.static.nn.control_flow import ConditionalBlock, While

X = np.array([0.1, 0.2])
Y = 1.5 * np.sin(X) + X  # what stands in the innermost block
DX = 1.5 * np.cos(X) + 1.0


def branch(y):
    return ConditionalBlock([paddle.sum(y) < 9.0], is_scalar_condition=True).block()


def once(stack):
    """Begin a loop that runs once."""
    holds = paddle.full([1], True, "bool")
    stack.enter_context(While(holds).block())
    stack.callback(lambda: paddle.assign(paddle.full([1], False, "bool"), holds))


@pytest.fixture
def static():
    paddle.enable_static()
    yield
    paddle.disable_static()


def nested(count, loops=True):
    """A Program of so many blocks in one another, branches and perhaps loops; its `x` and `y`."""
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        x = paddle.static.data("x", [2], "float64")
        x.stop_gradient = False
        y = paddle.assign(x)
        with ExitStack() as stack:
            for number in range(count):
                if number % 2 and loops:
                    once(stack)
                else:
                    stack.enter_context(branch(y))
            paddle.assign(paddle.sin(x) * 1.5 + x, y)
    return main, x, y


def derivative(main, x, y):
    with paddle.static.program_guard(main):
        return paddle.static.gradients([y], [x])[0]


def check(program, y, dx=None):
    wanted = [y.name] if dx is None else [y.name, dx.name]
    found = paddle.static.Executor().run(program, feed={"x": X}, fetch_list=wanted)
    for value, expected in zip(found, (Y, DX), strict=False):
        np.testing.assert_allclose(value, expected, rtol=1e-12)


@contextmanager
def few_calls(count):
    """Let Python's calls nest only so much deeper than here."""
    before, frame, here = sys.getrecursionlimit(), sys._getframe(), 1
    while frame.f_back is not None:
        frame, here = frame.f_back, here + 1
    sys.setrecursionlimit(here + count)
    try:
        yield here + count
    finally:
        sys.setrecursionlimit(before)


def test_three_hundred_blocks_in_one_another_run_and_have_gradients(static):
    main, x, y = nested(300)
    before = sys.getrecursionlimit()
    for program in (main, main.clone(), program_of(bytes_of(main))):
        check(program, y)
    assert str(main).count("conditional_block(") == 150
    dx = derivative(main, x, y)
    verify(main)
    check(main, y, dx)
    assert sys.getrecursionlimit() == before


@pytest.mark.parametrize("form", ["in-graph", "primitives", "unrolled"])
def test_every_form_makes_room_for_its_calls(form, static):
    main, x, y = nested(24)
    with few_calls(90) as limit:
        dx = derivative(main, x, y)
        program = {"primitives": lowered, "unrolled": lambda p: unrolled(p).program}.get(form)
        program = main if program is None else program(main)
        verify(program)
        check(program, y, dx)
        assert sys.getrecursionlimit() == limit


def test_primitives_of_branches_in_one_another_grow_as_their_number_does(static):
    def operators(count):
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            y = paddle.assign(paddle.static.data("x", [2], "float64"))
            with ExitStack() as stack:
                for _ in range(count):
                    stack.enter_context(branch(y))
                paddle.assign(y * 2.0, y)
        flat = lowered(main)
        verify(flat)
        return len(flat.global_block().ops)

    few, more, many = map(operators, (10, 20, 40))
    assert many - more == 2 * (more - few) and many < 7 * 40


@pytest.mark.parametrize("settings", [{"POISON": True}, {"HOST_THREADS": 2}])
def test_a_run_that_is_watched_has_room_too(settings, static):
    main, x, y = nested(40)
    dx = derivative(main, x, y)
    with few_calls(150), flags(**settings):
        check(main, y, dx)
        check(main, y, dx)


@pytest.mark.parametrize("on_device", [False, True], ids=["host", "device"])
def test_a_limit_of_memory_has_room_to_look_into_blocks(on_device, static):
    main, x, y = nested(24, loops=False)
    dx = derivative(main, x, y)
    exe = paddle.static.Executor(paddle.CustomPlace("sim", 0) if on_device else None)
    exe.max_memory = 10**6
    with few_calls(90):
        found = exe.run(main, feed={"x": X}, fetch_list=[y, dx])
    np.testing.assert_allclose(found, (Y, DX), rtol=1e-12)


def test_a_plan_prints_its_blocks_however_deep_they_lie(static):
    main, _, y = nested(40)
    with few_calls(150):
        text = str(paddle.static.Executor().plan(main, ["x"], [y]))
    assert "unbounded because of `while`" in text and "which lies in 8 others" in text


def test_functions_that_record_blocks_in_blocks_end_where_calls_of_python_do(static):
    def deeper(v):
        return paddle.static.nn.cond(paddle.sum(v) < 9.0, lambda: deeper(v * 1.0), lambda: v)

    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        x = paddle.static.data("x", [2], "float64")
        with few_calls(400), pytest.raises(ProgramError, match="raise it by sys"):
            deeper(x)
        assert main.current_block_idx == 0


def test_an_endless_recursion_of_a_user_stays_what_it_is(static):
    def endless():
        return endless()

    with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        x = paddle.static.data("x", [2], "float64")
        with few_calls(100), pytest.raises(RecursionError):
            paddle.static.nn.cond(paddle.sum(x) < 9.0, endless, lambda: x)


def test_more_blocks_than_a_thread_has_memory_for_are_refused(static):
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        y = paddle.ones([1])
    for _ in range(DEEPEST + 1):
        main._create_block()
    main.current_block_idx = 0
    law = f"{DEEPEST + 1} blocks lie in one another; {DEEPEST} may"
    with pytest.raises(ProgramError, match=law):
        paddle.static.Executor().run(main, fetch_list=[y])


def test_whoever_leaves_last_puts_the_limit_of_calls_back():
    before, inside, done = sys.getrecursionlimit(), threading.Event(), threading.Event()

    def stays():
        with room_for(100):
            inside.set()
            done.wait()

    thread = threading.Thread(target=stays)
    thread.start()
    inside.wait()
    with room_for(200):
        assert sys.getrecursionlimit() >= 200 * module.CALLS
    assert sys.getrecursionlimit() >= 100 * module.CALLS
    done.set()
    thread.join()
    assert sys.getrecursionlimit() == before and ROOM.users == 0
