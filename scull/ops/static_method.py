"""Operators of Python on Variables, spelt as in Paddle's Programs: `x + 1` is a `scale`."""

from typing import Any

from scull.core.interpreter import current
from scull.core.op import Op, op_of
from scull.errors import ArgumentError, ArgumentTypeError
from scull.ir.recorder import UNIFY, Recorder
from scull.ir.variable import Variable
from scull.ops import create
from scull.ops.method import PYTHON

SCALED = {
    "__add__": lambda n: (1.0, n),
    "__radd__": lambda n: (1.0, n),
    "__sub__": lambda n: (1.0, -n),
    "__rsub__": lambda n: (-1.0, n),
    "__mul__": lambda n: (n, 0.0),
    "__rmul__": lambda n: (n, 0.0),
    "__truediv__": lambda n: (inverted(n), 0.0),
}


def inverted(n: float) -> float:
    """``1 / n``."""
    if not n:
        raise ArgumentError("a Variable is divided by 0")
    return 1.0 / n


def as_tmp(dunder: str, function: Any) -> Any:
    """A dunder of a Variable; its results are called tmp_0, tmp_1, ..."""
    scaled = SCALED.get(dunder)

    def method(x: Any, other: Any) -> Any:
        with as_temporary(x):
            if scaled and isinstance(other, int | float) and not isinstance(other, bool):
                if x.dtype.is_float or (isinstance(other, int) and dunder != "__truediv__"):
                    factor, bias = scaled(float(other))
                    return create.scale(x, scale=factor, bias=bias)
                x = op_of("cast").call(x, out_dtype=FLOAT)
                return method(x, other)
            if dunder in FILLED and isinstance(other, int | float):
                other = filled_like(x, float(other))
            return function(x, other)

    method.__name__ = dunder
    return method


def filled_like(x: Any, value: float) -> Any:
    """A number in the shape of `x`, of which one size may be known only when run."""
    shape, dtype = tuple(map(int, x.shape)), x.dtype
    if -1 not in shape:
        return create.fill_constant(shape=shape, value=value, dtype=dtype)
    axis = shape.index(-1)
    places = {"input_dim_idx": axis, "output_dim_idx": axis}
    return create.fill_constant_batch_size_like(x, shape=shape, value=value, dtype=dtype, **places)


def negated(x: Any) -> Any:
    """``-x``."""
    with as_temporary(x):
        return create.scale(x, scale=-1.0)


FLOAT = "float32"
FILLED = ("__rpow__", "__rtruediv__")  # a number on the left of these gets the other's shape
BITS = ("__invert__", "__and__", "__or__", "__xor__")  # their results are named after the operator

for name, function in PYTHON.items():
    if name in BITS:
        setattr(Variable, name, function)
    elif name != "__neg__":
        setattr(Variable, name, as_tmp(name, function))
Variable.__neg__ = negated  # type: ignore[attr-defined]


def unify(op: Op, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Both operands of one element type: the right one is cast to the left one's."""
    x, y = inputs
    if isinstance(x, Variable) and isinstance(y, Variable) and x.dtype is not y.dtype:
        with as_temporary(x):
            y = op_of("cast").call(y, out_dtype=x.dtype)
    return x, y


def as_temporary(x: Any) -> Any:
    """Results made of the Variable `x` within are called tmp_0, tmp_1, ..."""
    recorder = current()
    if not isinstance(recorder, Recorder):
        raise ArgumentTypeError(
            f"`{x.name}` is a Variable, and eager mode computes; call paddle.enable_static() first"
        )
    return recorder.naming("tmp")


UNIFY.append(unify)
