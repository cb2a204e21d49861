"""Programs of basic operators: they compute what those they are made of do, and derivatives."""

import inspect
import json
import os
import subprocess

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentTypeError, AssertError, UnsupportedError
from scull.incubate.autograd import original, primops, primx, tangent
from scull.incubate.autograd.primrules import _jvp, _orig2prim, _transpose
from scull.ops.basic import BODIES

PYTHON = os.environ.get("SCULL_PADDLE_PYTHON")

# Calls, by the shapes of their operands: positive numbers of float64, no two alike.
CALLS = {
    "paddle.tanh(x) + paddle.sin(x) * paddle.cos(x) - paddle.exp(x)": [(2, 3)],
    "paddle.erf(x) / paddle.log(x + 2.0)": [(2, 3)],
    "paddle.abs(x - 1.0)": [(2, 3)],
    "paddle.sqrt(x) * paddle.rsqrt(y)": [(2, 3), (2, 3)],
    "x * y / z": [(2, 3), (3,), (2, 1)],
    "paddle.maximum(x, y)": [(2, 3), (3,)],
    "paddle.pow(x, y)": [(2, 3), (2, 3)],
    "paddle.pow(x, 1.7)": [(2, 3)],
    "paddle.square(x) + paddle.nn.functional.sigmoid(y)": [(3,), (3,)],
    "paddle.nn.functional.gelu(x) + paddle.nn.functional.gelu(x, approximate=True)": [(2, 3)],
    "paddle.scale(x, 3.0, 2.0) + paddle.scale(x, 3.0, 2.0, bias_after_scale=False)": [(2, 3)],
    "paddle.assign(x) + paddle.add_n([x, y])": [(2,), (2,)],
    "paddle.cast(paddle.cast(x, 'float32'), 'float64')": [(2, 3)],
    "x * paddle.ones_like(x) + paddle.full([2, 3], 0.5, 'float64')": [(2, 3)],
    "paddle.reshape(x, [3, 2]) + paddle.numel(x).cast('float64')": [(2, 3)],
    "paddle.concat([x, y * y, x], axis=1)": [(2, 3), (2, 1)],
    "x[1:3, 0] * y": [(3, 3), (2,)],
    "x[:, 1:3] * 2.0": [(2, 4)],
    "paddle.index_select(x, paddle.full([3], 1, 'int32'), axis=0) * y": [(3, 2), (3, 2)],
    "paddle.matmul(x, y)": [(2, 3), (3, 2)],
    "paddle.matmul(x, y, transpose_x=True, transpose_y=True)": [(2, 3, 2), (2, 2, 3)],
    "paddle.sum(x, [0, 2]) + y": [(2, 3, 2), (3,)],
    "paddle.mean(x, 1, keepdim=True) * paddle.mean(x)": [(2, 3)],
    "paddle.norm(x, p=2) + paddle.norm(x, p=1)": [(2, 3)],
    "paddle.where(x > y, x, y * 2.0)": [(2, 3), (2, 3)],
    "paddle.where(x >= y, x * y, y)": [(2, 3), (2, 3)],
    "x * paddle.cast(x == y, 'float64') + x * paddle.cast(x != y, 'float64')": [(4,), (4,)],
}
# What PaddlePaddle gets wrong or ends at: axes counted from behind, windows without an end.
CALLS_APART = {
    "x[1:, 0] * y": [(3, 3), (2,)],
    "paddle.sum(x, [0, -1]) + paddle.sum(y)": [(2, 3, 2), (2, 2)],
}
# Calls of basic operators that others are seldom made of.
BASIC = {
    "primops.split(x * x, [1, 2], 1)[1] * primops.split(x * x, [1, 2], 1)[0][0, 0]": [(2, 3)],
    "primops.scatter_add(x, y * y, primops.fill_const(1, [3], 'int32'), 0)": [(2, 2), (3, 2)],
    "primops.slice_assign(x * x, y, [1], [0], [4], [2])": [(2, 5), (2, 2)],
    "primops.transpose(primops.slice_select(x, [0], [3], [0], [-1]), [1, 0])": [(4, 2)],
    "primops.neg(x) * primops.broadcast(y, [2, 3])": [(2, 3), (1, 3)],
    "primops.cast(primops.mean(primops.square(x), [1]), 'float32')": [(2, 3)],
}
NAMES = "xyz"
DIRECTIONS = paddle.incubate.autograd.grad, paddle.incubate.autograd.forward_grad


@pytest.fixture(autouse=True)
def asked_for():
    """Static mode, and derivatives of basic operators."""
    paddle.enable_static()
    paddle.incubate.autograd.enable_prim()
    yield
    paddle.incubate.autograd.disable_prim()
    paddle.disable_static()


class Recorded:
    """A call in a Program of its own; numbers for its operands."""

    def __init__(self, call, shapes, dtype="float64"):
        random = np.random.default_rng(3)
        self.feed = {
            n: random.uniform(0.5, 2.0, s).astype(dtype)
            for n, s in zip(NAMES, shapes, strict=False)
        }
        self.main = paddle.static.Program()
        with self:
            self.xs = [paddle.static.data(n, v.shape, dtype) for n, v in self.feed.items()]
            for x in self.xs:
                x.stop_gradient = False
            known = {
                "paddle": paddle,
                "primops": primops,
                **dict(zip(NAMES, self.xs, strict=False)),
            }
            self.y = eval(call, known)

    def __enter__(self):
        self.guard = paddle.static.program_guard(self.main, paddle.static.Program())
        self.guard.__enter__()
        return self

    def __exit__(self, *raised):
        self.guard.__exit__(*raised)

    @property
    def types(self):
        return [o.type for o in self.main.global_block().ops]

    def run(self, *fetched, **changed):
        feed = {**self.feed, **changed}
        return paddle.static.Executor().run(self.main, feed=feed, fetch_list=list(fetched))


@pytest.mark.parametrize("call", CALLS | CALLS_APART)
def test_what_is_made_of_basic_operators_and_back_computes_the_same(call):
    with Recorded(call, (CALLS | CALLS_APART)[call]) as program:
        (before,) = program.run(program.y)
        primx.orig2prim()
        assert set(program.types) <= set(BODIES)
        np.testing.assert_allclose(program.run(program.y)[0], before, rtol=1e-6)
        paddle.incubate.autograd.prim2orig()
        assert not set(program.types) & set(BODIES)
        np.testing.assert_allclose(program.run(program.y)[0], before, rtol=1e-6)


def test_every_rule_is_tried():
    lowered, linear = set(), set()
    for call, shapes in (CALLS | BASIC).items():
        with Recorded(call, shapes) as program:
            lowered.update(program.types)
            primx.orig2prim()
            linear.update(program.types)
    apart = {"batch_norm", "dropout", "uniform_random"}  # below
    assert set(original.RULES) - lowered == apart
    assert set(tangent.RULES) <= linear


def numeric(program, direction):
    """How the result changes along a direction, by small steps both ways."""
    step = 1e-6
    ends = [
        program.run(program.y, **{n: v + s * direction[n] for n, v in program.feed.items()})[0]
        for s in (step, -step)
    ]
    return (ends[0].astype("float64") - ends[1]) / (2 * step)


@pytest.mark.parametrize("call", CALLS | CALLS_APART | BASIC)
def test_derivatives_in_both_directions_are_what_small_steps_show(call):
    random = np.random.default_rng(4)
    with Recorded(call, (CALLS | CALLS_APART | BASIC)[call]) as program:
        xs, y = program.xs, program.y
        single = "float32" in call
        direction = {n: random.uniform(-1, 1, v.shape) for n, v in program.feed.items()}
        expected = numeric(program, direction)
        dots = [paddle.static.data(f"{x.name}_dot", x.shape, x.dtype) for x in xs]
        bar = paddle.static.data("bar", y.shape, y.dtype)
        y_dot = paddle.incubate.autograd.forward_grad([y], xs, dots)[0]
        xs_bar = paddle.incubate.autograd.grad([y], xs, [bar])
        assert set(program.types) <= set(BODIES)
        worth = random.uniform(-1, 1, y.shape).astype(y.dtype.name)
        feed = {"bar": worth} | {f"{n}_dot": v for n, v in direction.items()}
        moving = [(x.name, bar) for x, bar in zip(xs, xs_bar, strict=True) if bar is not None]
        found, *bars = program.run(y_dot, *(bar for _, bar in moving), **feed)
    if not single:  # steps are lost in it
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-8)
    forward = (worth * found).sum()
    pairs = zip(moving, bars, strict=True)
    reverse = sum((bar * direction[name]).sum() for (name, _), bar in pairs)
    np.testing.assert_allclose(reverse, forward, rtol=1e-5 if single else 1e-9)


def test_a_gradient_has_a_gradient():
    with Recorded("x * x * x", [(3,)]) as program:
        (first,) = paddle.incubate.autograd.grad([program.y], program.xs)
        (second,) = paddle.incubate.autograd.grad([first], program.xs)
        found = program.run(first, second)
    x = program.feed["x"]
    np.testing.assert_allclose(found, [3 * x * x, 6 * x])


def test_basic_operators_have_gradients_as_all_others():
    with Recorded("paddle.nn.functional.gelu(x) @ y", [(2, 3), (3, 2)]) as program:
        expected = paddle.static.gradients([program.y], program.xs)
        before = program.run(*expected)
    with Recorded("paddle.nn.functional.gelu(x) @ y", [(2, 3), (3, 2)]) as program:
        primx.orig2prim()
        for one, other in zip(
            program.run(*paddle.static.gradients([program.y], program.xs)), before, strict=True
        ):
            np.testing.assert_allclose(one, other, rtol=1e-6)


STAYING = {
    "paddle.matmul(x, y)": [(2, 1, 2, 3), (3, 2)],
    "y - x": [(2, 3), (3,)],
    "paddle.norm(x, p=3) + paddle.norm(x, axis=1)": [(2, 3)],
    "paddle.reshape(x, paddle.shape(y))": [(2, 3), (3, 2)],
    "paddle.where(x > 1.0, x, y)": [(2, 3), (1, 3)],
    "paddle.nn.functional.softmax(x) * x": [(2, 3)],
    "x[:, paddle.full([1], 1, 'int32'):]": [(2, 3)],
}


@pytest.mark.parametrize("call", STAYING)
def test_what_has_no_rule_stays_and_has_its_derivatives(call):
    random = np.random.default_rng(5)
    with Recorded(call, STAYING[call]) as program:
        direction = {n: random.uniform(-1, 1, v.shape) for n, v in program.feed.items()}
        expected = numeric(program, direction)
        dots = [paddle.static.data(f"{x.name}_dot", x.shape, x.dtype) for x in program.xs]
        y_dot = paddle.incubate.autograd.forward_grad(program.y, program.xs, dots)
        assert set(program.types) - set(BODIES)
        (found,) = program.run(y_dot, **{f"{n}_dot": v for n, v in direction.items()})
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-8)


def test_what_is_written_over_later_has_its_derivatives():
    with Recorded("x * 2.0", [(3,)]) as program:
        h, y = program.y, program.y * program.y
        paddle.assign(paddle.zeros([3], "float64"), output=h)
        found = [f(y, program.xs[0]) for f in DIRECTIONS]
        for one in program.run(*found):
            np.testing.assert_allclose(one, 8 * program.feed["x"])


def test_a_gradient_that_is_stopped_stays_so():
    with Recorded("x * x", [(3,)]) as program:
        (x,), h = program.xs, program.y
        h.stop_gradient = True
        found = [f(h * x, x) for f in DIRECTIONS]
        for one in program.run(*found):
            np.testing.assert_allclose(one, program.feed["x"] ** 2)


def test_unknown_sizes_stay():
    with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        x = paddle.static.data("x", [None, 2])
        x.stop_gradient = False
        dx = paddle.incubate.autograd.grad(paddle.nn.functional.sigmoid(x) * x, x)
        given = np.array([[1.0, 2.0]], "float32")
        (found,) = paddle.static.Executor().run(feed={"x": given}, fetch_list=[dx])
    s = 1 / (1 + np.exp(-given))
    np.testing.assert_allclose(found, s + given * s * (1 - s), rtol=1e-6)


@pytest.mark.parametrize("mode", ["upscale_in_train", "downscale_in_infer"])
@pytest.mark.parametrize("training", [True, False])
def test_dropout_keeps_as_much_when_it_is_made_of_basic_operators(mode, training):
    call = f"paddle.nn.functional.dropout(x, 0.2, training={training}, mode='{mode}')"
    with Recorded(call, [(100, 100)]) as program:
        primx.orig2prim()
        assert set(program.types) <= set(BODIES)
        x, (y,) = program.feed["x"], program.run(program.y)
    scale = {True: 1 / 0.8, False: 1.0} if mode == "upscale_in_train" else {True: 1.0, False: 0.8}
    kept = y != 0
    np.testing.assert_allclose(y[kept], x[kept] * scale[training])
    assert abs(kept.mean() - (0.8 if training else 1.0)) < 0.02


def test_random_numbers_are_drawn_between_their_bounds():
    with Recorded("paddle.uniform([50, 50], 'float64', 2.0, 3.0) * x", [(1,)]) as program:
        primx.orig2prim()
        assert "uniform_random_p" in program.types
        (found,) = program.run(program.y, x=np.ones(1))
        assert 2 <= found.min() < 2.1 < 2.9 < found.max() < 3
        primx.prim2orig()
        assert program.types.count("uniform_random") == 1


@pytest.mark.parametrize("training", [True, False])
def test_batch_norm_is_made_of_basic_operators(training):
    with Recorded("x * 1.0", [(4, 2, 3)]) as program:
        startup = paddle.static.Program()
        with paddle.static.program_guard(program.main, startup):
            y = paddle.static.nn.batch_norm(program.y, is_test=not training, momentum=0.5)
        statistics = [v for v in program.main.list_vars() if v.persistable and v.stop_gradient]
        results = []
        for apart in (False, True):
            if apart:
                primx.orig2prim()
                assert "batch_norm" not in program.types
            paddle.static.Executor().run(startup)
            program.run(y)
            results.append(program.run(y, *statistics))
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_what_a_gradient_reads_stays():
    with Recorded("paddle.static.nn.batch_norm(x)", [(4, 2)]) as program:
        paddle.static.gradients([program.y], program.xs)
        primx.orig2prim()
        assert {"batch_norm", "batch_norm_grad"} <= set(program.types)
        program.main.global_block()


def test_some_types_may_stay_basic():
    with Recorded("paddle.tanh(x) + x", [(2,)]) as program:
        primx.orig2prim()
        primx.prim2orig(blacklist=["add_p"])
        assert program.types == ["tanh", "add_p"]


def test_the_linear_program_stays_if_it_is_wanted():
    with Recorded("paddle.tanh(x)", [(2,)]) as program:
        primx.orig2prim()
        ad = primx.Transform(program.main.global_block())
        xs_dot, ys_dot = ad.linearize(program.xs, [program.y])
        _, (x_bar,) = ad.transpose(ys_dot, xs_dot, retain_fwd=True)
        one, other = program.run(ys_dot[0], x_bar)
    np.testing.assert_allclose(one, other)


def test_a_result_can_be_a_variable_that_is_there():
    with Recorded("paddle.assign(x)", [(2,)]) as program:
        (x,), y = program.xs, program.y
        given = primops.split(x, 2, outs=[paddle.static.data(n, [1], x.dtype) for n in "ab"])
        primops.add(x, x, out=y)
        primops.set_value(y, given[0], [0], [0], [1], [1], y)
        (found,) = program.run(y)
    np.testing.assert_allclose(found, program.feed["x"] * [1, 2])


@pytest.mark.parametrize(
    ("wrong", "kind", "law"),
    [
        (lambda x, b: primops.split(x, 1.5), ArgumentTypeError, "is a number or a list, not float"),
        (lambda x, b: primops.reduce_sum(x), ArgumentTypeError, "a list of axes, not NoneType"),
        (lambda x, b: primops.reduce_sum(x, [0], 1), ArgumentTypeError, "is a bool, not int"),
        (lambda x, b: primops.slice_select(x, 0, [0], [1], [1]), ArgumentTypeError, "`axis` is a"),
        (lambda x, b: primops.slice_select(x, [0], [0], [1], []), AssertError, "0 strides are"),
        (lambda x, b: primops.set_value(x, x, [0], [0], [1], [1], None), AssertError, "`out`"),
        (lambda x, b: primx.orig2prim(x), ArgumentTypeError, "orig2prim takes a Block"),
        (lambda x, b: primx.Transform(None), AssertError, "where the main Program grows"),
        (lambda x, b: primx.Transform(b).linearize([x], [x], []), AssertError, "0 `xs_dot`"),
        (lambda x, b: primx.Transform(b).transpose([None], [x]), AssertError, "that change"),
        (lambda x, b: _jvp(paddle.tanh(x).op, x), UnsupportedError, "no rule for a forward"),
        (lambda x, b: _orig2prim(paddle.floor(x).op, x), UnsupportedError, "no rule for basic"),
        (
            lambda x, b: _orig2prim(paddle.norm(x, p=3).op, x),
            UnsupportedError,
            "is not made of basic operators: its order is 3",
        ),
        (
            lambda x, b: _transpose(primops.mul(x, x).op, lambda v: True, x),
            AssertError,
            "exactly one of its operands changes",
        ),
        (
            lambda x, b: _transpose(primops.div(x, x).op, lambda v: True, x),
            AssertError,
            "its second operand changes",
        ),
    ],
)
def test_a_mistake_is_refused_with_its_law(wrong, kind, law):
    with Recorded("x * x", [(2,)]) as program, pytest.raises(kind, match=law):
        wrong(program.xs[0], program.main.global_block())


def types(operators):
    """The types of operators in alphabetic order, but for constants that nobody reads."""
    read = {n for o in operators for n in o.input_arg_names}
    kept = [
        o.type
        for o in operators
        if o.type != "fill_constant_p" or read.intersection(o.output_arg_names)
    ]
    return sorted(kept)


THERE = """
import json, sys
import paddle
from paddle.incubate.autograd import primx
paddle.enable_static()
for call, shapes in json.loads(sys.argv[1]).items():
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        xs = [paddle.static.data(n, s, "float64") for n, s in zip("xyz", shapes)]
        for x in xs:
            x.stop_gradient = False
        y = eval(call, {"paddle": paddle, **dict(zip("xyz", xs))})
        primx.orig2prim()
        print(json.dumps(types(main.block(0).ops)))
        primx.Transform(main.block(0)).linearize(xs, [y])
        print(json.dumps(types(main.block(0).ops)))
"""


@pytest.mark.skipif(not PYTHON, reason="SCULL_PADDLE_PYTHON names no Python with PaddlePaddle")
def test_the_operators_made_are_those_that_paddle_makes():
    script = [PYTHON, "-c", inspect.getsource(types) + THERE, json.dumps(CALLS)]
    printed = subprocess.run(script, capture_output=True, text=True, check=True).stdout
    expected = iter(map(json.loads, printed.splitlines()))
    for call, shapes in CALLS.items():
        with Recorded(call, shapes) as program:
            block = program.main.global_block()
            primx.orig2prim()
            assert types(block.ops) == next(expected), call
            primx.Transform(block).linearize(program.xs, [program.y])
            assert types(block.ops) == next(expected), call


READ = """
import sys
import numpy as np
import paddle
paddle.enable_static()
folder, *names = sys.argv[1:]
with open(folder + "/program", "rb") as file:
    main = paddle.static.Program.parse_from_string(file.read())
with paddle.static.program_guard(main):
    paddle.incubate.autograd.prim2orig()
feed = dict(np.load(folder + "/feed.npz"))
np.savez(folder + "/there.npz", *paddle.static.Executor().run(main, feed, names))
"""


@pytest.mark.skipif(not PYTHON, reason="SCULL_PADDLE_PYTHON names no Python with PaddlePaddle")
def test_paddle_reads_basic_operators_and_computes_the_same(tmp_path):
    call = "paddle.nn.functional.gelu(x[:, 0:2]) @ paddle.concat([y, y], 1)[0:2]"
    with Recorded(call, [(2, 3), (3, 2)]) as program:
        fetched = [program.y, *paddle.incubate.autograd.grad([program.y], program.xs)]
        here = program.run(*fetched)
    (tmp_path / "program").write_bytes(program.main.desc.serialize_to_string())
    np.savez(tmp_path / "feed.npz", **program.feed)
    subprocess.run([PYTHON, "-c", READ, tmp_path, *(v.name for v in fetched)], check=True)
    there = np.load(tmp_path / "there.npz")
    for one, other in zip(here, there.values(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
