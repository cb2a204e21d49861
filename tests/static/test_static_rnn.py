"""A step recorded once, which runs for every element of a sequence."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, ArgumentTypeError, ShapeError
from scull.ir.verify import verify
from scull.passes.dataflow import lowered
from scull.passes.unroll import unrolled
from scull.static.nn import StaticRNN

X = np.random.default_rng(0).standard_normal((4, 2, 3))
WEIGHT = np.random.default_rng(1).standard_normal((3, 3))


@pytest.fixture
def main():
    paddle.enable_static()
    program = paddle.static.Program()
    with paddle.static.program_guard(program, paddle.static.Program()):
        yield program
    paddle.disable_static()


def recorded(x, weight):
    """A network that gives what it remembers, and what it remembered before."""
    rnn = StaticRNN()
    with rnn.step():
        now = rnn.step_input(x)
        before = rnn.memory(shape=[-1, 3], batch_ref=now, init_value=0.5)
        after = paddle.tanh(now + paddle.matmul(before, weight))
        rnn.update_memory(before, after)
        rnn.output(after, before)
    return rnn()


def eager():
    """The same in Python: results and gradients."""
    paddle.disable_static()
    x, weight = (paddle.to_tensor(v, stop_gradient=False) for v in (X, WEIGHT))
    before, rows = paddle.full([2, 3], 0.5, "float64"), []
    for now in x:
        after = paddle.tanh(now + paddle.matmul(before, weight))
        rows.append((after, before))
        before = after
    a, b = (paddle.stack(list(column)) for column in zip(*rows, strict=True))
    paddle.sum(a * b).backward()
    paddle.enable_static()
    return [v.numpy() for v in (a, b, x.grad, weight.grad)]


@pytest.mark.parametrize("length", [4, None])
def test_a_step_runs_for_every_element_of_a_sequence(length, main):
    expected = eager()
    x = paddle.static.data("x", [length, None, 3], "float64")
    weight = paddle.static.data("weight", [3, 3], "float64")
    x.stop_gradient = weight.stop_gradient = False
    a, b = recorded(x, weight)
    loss, plain = paddle.sum(a * b), main.clone()
    written = unrolled(plain).program
    grads = paddle.static.gradients([loss], [x, weight])
    verify(main)

    def run(program, fetches):
        feed = {"x": X, "weight": WEIGHT}
        names = [v.name for v in fetches]
        return paddle.static.Executor().run(program, feed=feed, fetch_list=names)

    for program, fetches in ((plain, [a, b]), (written, [a, b]), (main, [a, b, *grads])):
        for form in (program, lowered(program)):
            for value, right in zip(run(form, fetches), expected, strict=False):
                np.testing.assert_allclose(value, right, rtol=1e-12)
    loops = [o.type for o in written.global_block().ops].count("while")
    assert loops == (0 if length else 1)


def test_memories_that_change_places_do_so_at_once(main):
    x = paddle.static.data("x", [3, 1], "float64")
    rnn, first = StaticRNN(), [paddle.full([1], v, "float64") for v in (1.0, 2.0)]
    with rnn.step():
        rnn.step_input(x)
        a, b = (rnn.memory(init=v) for v in first)
        rnn.update_memory(a, b)
        rnn.update_memory(b, a)
        rnn.step_output(a)
    feed = {"x": np.zeros([3, 1])}
    (found,) = paddle.static.Executor().run(main, feed=feed, fetch_list=[rnn()])
    assert found[:, 0].tolist() == [1.0, 2.0, 1.0]


def test_a_step_that_cannot_run_is_refused(main):
    x = paddle.static.data("x", [3, 2])
    rnn = StaticRNN()
    with pytest.raises(ArgumentError, match="within its step"):
        rnn.step_input(x)
    with pytest.raises(ArgumentError, match="before its outputs are read"):
        rnn()
    with pytest.raises(ArgumentError, match="takes no input"), rnn.step():
        pass
    rnn = StaticRNN()
    with pytest.raises(ArgumentError, match="gives no output"), rnn.step():
        rnn.step_input(x)
    rnn = StaticRNN()
    with pytest.raises(ArgumentError, match="does not update memory"), rnn.step():
        rnn.step_input(x)
        rnn.step_output(rnn.memory(init=x))
    assert main.current_block_idx == 0


def test_what_a_step_is_given_is_checked(main):
    x, y = (paddle.static.data(n, [size, 2]) for n, size in (("x", 3), ("y", 4)))
    rnn = StaticRNN()
    with rnn.step():
        now = rnn.step_input(x)
        with pytest.raises(ShapeError, match="another length"):
            rnn.step_input(y)
        with pytest.raises(ShapeError, match="an axis of steps"):
            rnn.step_input(paddle.sum(x))
        with pytest.raises(ArgumentTypeError, match="must be Variable"):
            rnn.step_output(1.0)
        with pytest.raises(ArgumentError, match="takes `init`, or both"):
            rnn.memory(shape=[2])
        with pytest.raises(ArgumentError, match="within the step alone"):
            rnn.memory(init=now)
        with pytest.raises(ArgumentError, match="is no memory"):
            rnn.update_memory(now, now)
        rnn.step_output(now)
    with pytest.raises(ArgumentError, match="recorded once"):
        rnn.step()
