"""Every declared operator by its type: `_legacy_C_ops.matmul_v2(x, y, "trans_x", True)`.

Inputs are given by position, attributes as names and values in turn.
"""

from functools import cache
from typing import Any

from scull.core.attribute import normalised
from scull.core.op import Op, by_type, op_of
from scull.core.tensor import Tensor
from scull.eager.change import in_place
from scull.errors import SlotError, UnknownOpError


@cache
def function(type: str) -> Any:
    """The function of an operator; one more underscore writes the result into the first operand."""
    if type.endswith("_") and type not in by_type() and type[:-1] in by_type():
        return in_place(function(type[:-1]))
    try:
        op = op_of(type)
    except UnknownOpError:
        raise AttributeError(f"module '{__name__}' has no attribute '{type}'") from None

    def call(*arguments: Any) -> Any:
        count = next((i for i, v in enumerate(arguments) if isinstance(v, str)), len(arguments))
        inputs = arguments[:count]
        return op.call(*inputs, **attributes(op, arguments[count:]))

    call.__name__ = call.__qualname__ = type
    call.__doc__ = op.body.__doc__
    return call


def attributes(op: Op, pairs: tuple[Any, ...]) -> dict[str, Any]:
    """Names and values in turn, by our names; those every operator has mean nothing here."""
    if len(pairs) % 2:
        raise SlotError(f"an attribute of `{op.type}` has no value")
    own = {op.attribute(n): n for n in op.kinds}
    found = dict(zip(pairs[::2], pairs[1::2], strict=True))
    return {
        own[n]: normalised(op.kinds[own[n]], n, v.array.tolist() if isinstance(v, Tensor) else v)
        for n, v in found.items()
        if n in own
    }


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return function(name)
