"""Derivatives of Programs, in both directions."""

from typing import Any

from scull.autograd.program import gradients
from scull.errors import ArgumentTypeError, TapeError
from scull.incubate.autograd.functional import forward
from scull.incubate.autograd.parting import to_prim
from scull.incubate.autograd.primx import Transform, between, orig2prim
from scull.incubate.autograd.utils import as_tensors, prim_enabled
from scull.ir.block import Block
from scull.ir.operator import Operator
from scull.ir.program import main_program
from scull.ir.variable import Variable
from scull.ops.basic import BODIES


def variables(value: Any, name: str) -> list[Any]:
    """One Variable or several, as a list."""
    found = as_tensors(value)
    if not isinstance(found, tuple) or not all(isinstance(v, Variable) for v in found):
        raise ArgumentTypeError(
            f"`{name}` takes a Variable or a sequence of Variables, in static mode"
        )
    return list(found)


def transform(ys: list[Any], xs: list[Any]) -> Transform | None:
    """Derivatives of basic operators, if these are asked for and nothing else leads to `ys`."""
    block = main_program().current_block()
    if not prim_enabled() or any(v.block is not block for v in ys + xs):
        return None
    orig2prim(block)
    path, _ = between(block, xs, ys)
    known = all(-1 not in v.shape for o in path for v in (*o.operands(), *o.results()))
    known = known and all(-1 not in x.shape for x in xs)
    basic = known and all(o.type in BODIES for o in path)
    return Transform(block) if basic and steady(block, path) and not stopped(path) else None


def stopped(path: list[Operator]) -> bool:
    """Whether somebody stops gradients on the way, where an operator itself lets them through."""
    through = [o for o in path if "grad" not in o.op.missing]
    opened = [o for o in through if not all(v.stop_gradient for v in o.operands())]
    return any(v.stop_gradient for o in opened for v in o.results())


def steady(block: Block, path: list[Operator]) -> bool:
    """Whether what operators read and write still has that value at the end of the block."""
    places = {o: i for i, o in enumerate(block.ops)}
    written = {v: i for o, i in places.items() for v in o.results()}
    return not any(
        any(written.get(v, -1) >= places[o] for v in o.operands())
        or any(written[v] > places[o] for v in o.results())
        for o in path
    )


def forward_grad(outputs: Any, inputs: Any, grad_inputs: Any = None) -> Any:
    """How `outputs` of a Program change when `inputs` change by `grad_inputs`.

    After `enable_prim` it is made of basic operators, as far as all between them is. What is not is
    the gradient of a gradient, as without `enable_prim`.

    Args:
        outputs (Variable | sequence): what is differentiated.
        inputs (Variable | sequence): with respect to what.
        grad_inputs (Variable | sequence, optional): how `inputs` change; by ones when None.

    Returns:
        Variable | list[Variable]: a change an output, None for one without.

    Raises:
        ArgumentTypeError: something is no Variable.
        TapeError: there are not as many `grad_inputs` as `inputs`.

    Examples:
        >>> import numpy, scull as paddle
        >>> paddle.enable_static()
        >>> paddle.incubate.autograd.enable_prim()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [2])
        ...     y_dot = paddle.incubate.autograd.forward_grad(x * x, x)
        >>> feed = {"x": numpy.array([1.0, 3.0], "float32")}
        >>> paddle.static.Executor().run(main, feed=feed, fetch_list=[y_dot])[0].tolist()
        [2.0, 6.0]
        >>> paddle.incubate.autograd.disable_prim()
        >>> paddle.disable_static()
    """
    ys, xs = variables(outputs, "outputs"), variables(inputs, "inputs")
    v = None if grad_inputs is None else variables(grad_inputs, "grad_inputs")
    if v is not None and len(v) != len(xs):
        raise TapeError(f"{len(v)} grad_inputs were given for {len(xs)} inputs")
    ad = transform(ys, xs)
    found = forward(ys, xs, v) if ad is None else ad.linearize(xs, ys, v)[1]
    return found[0] if isinstance(outputs, Variable) else found


def grad(outputs: Any, inputs: Any, grad_outputs: Any = None) -> Any:
    """The gradients of `outputs` of a Program by `inputs`.

    After `enable_prim` they are made of basic operators, as far as all between them is.

    Args:
        outputs (Variable | sequence): what is differentiated.
        inputs (Variable | sequence): with respect to what.
        grad_outputs (Variable | sequence, optional): gradients of `outputs`; ones when None.

    Returns:
        Variable | list[Variable]: a gradient an input, None for one without.

    Raises:
        ArgumentTypeError: something is no Variable.
        TapeError: there are not as many `grad_outputs` as `outputs`.

    Examples:
        >>> import numpy, scull as paddle
        >>> paddle.enable_static()
        >>> paddle.incubate.autograd.enable_prim()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [2])
        ...     dx = paddle.incubate.autograd.grad(paddle.tanh(x), x)
        >>> {o.type for o in main.global_block().ops}.issuperset({"tanh_p", "mul_p"})
        True
        >>> feed = {"x": numpy.zeros(2, "float32")}
        >>> paddle.static.Executor().run(main, feed=feed, fetch_list=[dx])[0].tolist()
        [1.0, 1.0]
        >>> paddle.incubate.autograd.disable_prim()
        >>> paddle.disable_static()
    """
    ys, xs = variables(outputs, "outputs"), variables(inputs, "inputs")
    v = None if grad_outputs is None else variables(grad_outputs, "grad_outputs")
    if v is not None and len(v) != len(ys):
        raise TapeError(f"{len(v)} grad_outputs were given for {len(ys)} outputs")
    ad = transform(ys, xs)
    found = gradients(ys, xs, v) if ad is None else reverse(ad, ys, xs, v)
    return found[0] if isinstance(inputs, Variable) else found


def reverse(ad: Transform, ys: list[Any], xs: list[Any], v: list[Any] | None) -> list[Any]:
    """Gradients by way of forward derivatives, of which nothing stays."""
    changes, ys_dot = ad.linearize(xs, ys)
    worth = v or [None] * len(ys)
    moving = [(dot, bar) for dot, bar in zip(ys_dot, worth, strict=True) if dot is not None]
    given = None if v is None else [bar for _, bar in moving]
    _, found = ad.transpose([dot for dot, _ in moving], changes, given)
    ad.erase([dot.op for dot in changes])
    return found


__all__ = ["forward_grad", "grad", "to_prim"]
