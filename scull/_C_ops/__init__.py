"""Every declared operator by its functional name: `_C_ops.matmul(x, y, False, True)`.

Inputs and attributes are given by position, in Paddle's order. Those of an operator as it is
declared may all be given by name; then its results, too, are as declared.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from scull._C_ops import beside
from scull._C_ops.form import ORDERS, RESULTS, TYPES
from scull._C_ops.number import said
from scull.core.attribute import normalised
from scull.core.op import Op, as_outputs, by_name, by_type
from scull.core.tensor import Tensor
from scull.eager.change import in_place
from scull.errors import ArgumentTypeError
from scull.optimizer.overwrite import overwrite


def operator(name: str) -> Op:
    """The operator behind a functional name."""
    types = by_type()
    found = types.get(TYPES.get(name, "")) or by_name().get(name) or types.get(name)
    if found is None:
        raise missing(name)
    return found


def missing(name: str) -> AttributeError:
    return AttributeError(f"module '{__name__}' has no attribute '{name}'")


def is_there(name: str) -> bool:
    """Whether there is a function of a name without an underscore behind."""
    return name in beside.__all__ or name in TYPES or name in by_name() or name in by_type()


def order_of(name: str, op: Op) -> tuple[str, ...]:
    """The arguments of a function, by our names for them."""
    if name in ORDERS:
        return tuple(ORDERS[name].split())
    return (*(n for n in op.inputs if not n.endswith(("_tensor", "_tensor_list"))), *op.kinds)


@cache
def function(name: str) -> Any:
    """The function of a functional name."""
    if name in beside.__all__:
        return beside_operator(name, getattr(beside, name))
    if not name.endswith("_") or name in TYPES:
        op = operator(name)
        return documented(name, op.body.__doc__, of_operator(name, op))
    if hasattr(Tensor, name):
        return documented(name, getattr(Tensor, name).__doc__, of_method(name))
    op = by_name().get(name[:-1])
    if op is None or not op.in_place:
        if not is_there(name[:-1]):
            raise missing(name)
        return in_place(function(name[:-1]))
    is_update = "param" in op.in_place.values()
    return documented(name, op.body.__doc__, (update if is_update else of_operator)(name, op))


def documented(name: str, doc: str | None, call: Callable[..., Any]) -> Callable[..., Any]:
    """A function with its name and what it says of itself."""
    call.__name__ = call.__qualname__ = name
    call.__doc__ = doc
    return call


def beside_operator(name: str, own: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is no operator, or by names the operator that has its name."""
    if name not in by_name():
        return own
    by_names = of_operator(name, operator(name))

    def call(*arguments: Any, **options: Any) -> Any:
        return own(*arguments, **options) if arguments else by_names(**options)

    return documented(name, own.__doc__, call)


def of_operator(name: str, op: Op) -> Callable[..., Any]:
    """The function of an operator."""
    order, outputs = order_of(name, op), list(op.outputs)
    shown = [n for n in outputs if n not in op.hidden]
    results = RESULTS[name].split() if name in RESULTS else shown
    writes = op.in_place if name.endswith("_") or name == "batch_norm" else {}

    def call(*arguments: Any, **options: Any) -> Any:
        if len(arguments) > len(order):
            raise ArgumentTypeError(
                f"{name}() takes {len(order)} arguments, {len(arguments)} were given"
            )
        given = dict(zip(order, arguments, strict=False)) | options
        given.pop("_", None)
        inputs, attrs = said(op, given)
        found = dict(zip(outputs, as_outputs(op, op.call(*inputs, **attrs)), strict=True))
        for output, operand in writes.items():
            overwritten(given[operand], found[output])
        kept = tuple([found.get(n) for n in (results if arguments else shown)])
        return kept if len(kept) > 1 else kept[0]

    return call


def overwritten(operand: Any, found: Any) -> None:
    """Let an operand, or each of a list, have the elements of a result."""
    for one, other in (
        zip(operand, found, strict=True) if type(operand) is list else [(operand, found)]
    ):
        if isinstance(one, Tensor):
            one.array = other.array


def of_method(name: str) -> Callable[..., Any]:
    """The function of a method that changes its first operand."""

    def call(x: Any, *arguments: Any, **options: Any) -> Any:
        return getattr(x, name)(*arguments, **options)

    return call


def update(name: str, op: Op) -> Callable[..., Any]:
    """The function of an operator that updates a parameter."""
    order = order_of("", op)

    def call(*arguments: Any, **options: Any) -> Any:
        given = dict(zip(order, arguments, strict=False)) | options
        values = {n: getattr(given.get(n), "array", None) for n in op.inputs}
        told = {n: given[n] for n in op.kinds if given.get(n) is not None}
        attrs = {n: normalised(op.kinds[n], n, v) for n, v in told.items()}
        overwrite(op, values, op.attrs | attrs)
        return tuple([given.get(op.in_place[n]) for n in op.outputs])

    return call


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise missing(name)
    return function(name)


def __dir__() -> list[str]:
    return sorted({*by_name(), *TYPES, *beside.__all__})
