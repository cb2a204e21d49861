"""Operators of Python on tensor-like values: Tensor, abstract and traced values. Variables have their own spelling."""

from typing import Any

from scull.core.eager import UNIFY
from scull.core.op import Op
from scull.core.tensor import Tensor, Value
from scull.ops import compare, elementwise, linear, math
from scull.ops.promotion import unify


def swapped(function: Any) -> Any:
    """`function` with its operands exchanged, for the reflected operators of Python."""
    op: Op = function.op

    def reflected(x: Any, y: Any) -> Any:
        return function(y, x)

    reflected.__name__ = "reverse_" + op.name
    return reflected


PYTHON = {
    "__add__": elementwise.add,
    "__radd__": swapped(elementwise.add),
    "__sub__": elementwise.subtract,
    "__rsub__": swapped(elementwise.subtract),
    "__mul__": elementwise.multiply,
    "__rmul__": swapped(elementwise.multiply),
    "__truediv__": elementwise.divide,
    "__rtruediv__": swapped(elementwise.divide),
    "__matmul__": linear.matmul,
    "__neg__": math.negative,
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
