"""Operators of Python on Tensors, abstract and traced values; Variables have their own spelling."""

from typing import Any

from scull.core.dtype import float32
from scull.core.eager import UNIFY
from scull.core.op import Op
from scull.core.tensor import Tensor, Value
from scull.ops import arithmetic, compare, elementwise, linear, logic, math
from scull.ops.promotion import cast_to, unify


def swapped(function: Any) -> Any:
    """`function` with its operands exchanged, for the reflected operators of Python."""
    op: Op = function.op

    def reflected(x: Any, y: Any) -> Any:
        return function(y, x)

    reflected.__name__ = "reverse_" + op.name
    return reflected


def true_divide(x: Any, y: Any) -> Any:
    """``x / y``; integers are divided as float32, which `divide` itself does not do.

    By a number it is a product with its inverse, as in a Program.
    """
    if isinstance(x, Tensor):
        kind = x.array.dtype.kind
        if kind in "iub":
            x = cast_to(x, float32)
        if type(y) in (int, float) and y and kind != "c":
            return elementwise.multiply(x, 1.0 / y)
    return elementwise.divide(x, y)


def reverse_divide(x: Any, y: Any) -> Any:
    """``y / x``."""
    if isinstance(x, Tensor) and x.array.dtype.kind in "iub":
        x = cast_to(x, float32)
    return elementwise.divide(y, x)


# `x += y` is `x = x + y`, and the reflected `//` and `%` do not exist, as in Paddle.
PYTHON = {
    "__add__": elementwise.add,
    "__radd__": swapped(elementwise.add),
    "__sub__": elementwise.subtract,
    "__rsub__": swapped(elementwise.subtract),
    "__mul__": elementwise.multiply,
    "__rmul__": swapped(elementwise.multiply),
    "__truediv__": true_divide,
    "__rtruediv__": reverse_divide,
    "__floordiv__": arithmetic.floor_divide,
    "__mod__": arithmetic.remainder,
    "__pow__": arithmetic.power,
    "__rpow__": swapped(arithmetic.power),
    "__matmul__": linear.matmul,
    "__neg__": math.negative,
    "__invert__": logic.bitwise_not,
    "__and__": logic.bitwise_and,
    "__or__": logic.bitwise_or,
    "__xor__": logic.bitwise_xor,
    "__eq__": compare.equal,
    "__ne__": compare.not_equal,
    "__lt__": compare.less_than,
    "__le__": compare.less_equal,
    "__gt__": compare.greater_than,
    "__ge__": compare.greater_equal,
}

for dunder, function in PYTHON.items():
    setattr(Tensor, dunder, function)
    if dunder not in ("__eq__", "__ne__"):
        setattr(Value, dunder, function)

UNIFY.append(unify)
