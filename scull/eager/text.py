"""Tensors as text, as Paddle prints them."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scull.core import session
from scull.core.tensor import Parameter, Tensor
from scull.eager.attach import attach
from scull.eager.conversion import dense
from scull.errors import ArgumentTypeError


@dataclass(frozen=True)
class PrintOptions:
    """How tensors are printed."""

    precision: int = 8
    threshold: int = 1000
    edgeitems: int = 3
    sci_mode: bool = False
    linewidth: int = 80


session.put("print", PrintOptions())


def set_printoptions(
    precision: int | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    sci_mode: bool | None = None,
    linewidth: int | None = None,
) -> None:
    """Choose how tensors are printed; what is None stays as it is.

    Args:
        precision (int, optional): digits behind the point, 8 at first.
        threshold (int, optional): tensors of more elements are shortened, 1000 at first.
        edgeitems (int, optional): elements shown at either end of a shortened axis, 3 at first.
        sci_mode (bool, optional): whether to print powers of ten.
        linewidth (int, optional): columns of a line, 80 at first.

    Examples:
        >>> import scull as paddle
        >>> paddle.set_printoptions(precision=2)
        >>> paddle.to_tensor([1.234])
        Tensor(shape=[1], dtype=float32, place=Place(cpu), stop_gradient=True,
               [1.23])
        >>> paddle.set_printoptions(precision=8)
    """
    given = dict(
        precision=precision,
        threshold=threshold,
        edgeitems=edgeitems,
        sci_mode=sci_mode,
        linewidth=linewidth,
    )
    for name, value in given.items():
        kind = bool if name == "sci_mode" else int
        if value is not None and not isinstance(value, kind):
            raise ArgumentTypeError(f"`{name}` is of {kind.__name__}, not {type(value).__name__}")
    changed = {k: v for k, v in given.items() if v is not None}
    session.put("print", replace(session.get("print"), **changed))


def number_text(value: Any, options: PrintOptions) -> str:
    """One element, without padding."""
    if isinstance(value, float):
        if options.sci_mode:
            return f"{value:.{options.precision}e}"
        if math.isinf(value) or (not math.isnan(value) and math.ceil(value) == value):
            return f"{value:.0f}."
        return f"{value:.{options.precision}f}"
    return str(value)


def is_negative(value: Any) -> bool:
    """Whether an element is printed with a sign."""
    if isinstance(value, complex):
        return (value.real, value.imag) < (0.0, 0.0)
    return bool(value < 0)


def padded(value: Any, width: int, signed: bool, options: PrintOptions) -> str:
    """One element as wide as all others; there is room for a sign when one of them has it."""
    text = number_text(value, options)
    if signed and width > len(text) and not is_negative(value):
        return " " + text.ljust(width - 1)
    return text.ljust(width)


def shortened(array: Any, edge: int) -> Any:
    """The elements that are shown of a long tensor."""
    for axis in range(array.ndim):
        size = array.shape[axis]
        if size > 2 * edge:
            ends = [*range(edge), *range(size - edge, size)]
            array = array.take(ends, axis)
    return array


def nested(values: Any, ndim: int, indent: int, short: bool, show: Any, columns: int) -> str:
    """Elements in brackets, a line each row."""
    edge = session.get("print").edgeitems
    cut = short and len(values) > 2 * edge
    chosen = [*values[:edge], None, *values[-edge:]] if cut else values
    if ndim == 1:
        items = ["..." if cut and i == edge else show(v) for i, v in enumerate(chosen)]
        lines = [", ".join(items[i : i + columns]) for i in range(0, len(items), columns)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
    rows = [
        "..." if cut and i == edge else nested(v, ndim - 1, indent + 1, short, show, columns)
        for i, v in enumerate(chosen)
    ]
    return "[" + ("," + "\n" * (ndim - 1) + " " * (indent + 1)).join(rows) + "]"


def array_text(array: Any, indent: int) -> str:
    """The elements of an array; `indent` is where they begin."""
    options = session.get("print")
    if array.dtype.kind in "fV":
        array = array.astype(np.float32 if array.dtype.itemsize < 4 else array.dtype)
    short = array.size > options.threshold
    seen = (shortened(array, options.edgeitems) if short else array).reshape(-1).tolist()
    if array.ndim == 0:
        return number_text(array.item(), options)
    width = max((len(number_text(v, options)) for v in seen), default=0)
    signed = any(map(is_negative, seen))
    columns = max(1, (options.linewidth - indent - (array.ndim - 1)) // max(1, width + 2))

    def show(value: Any) -> str:
        return padded(value.item(), width, signed, options)

    return nested(array, array.ndim, indent, short, show, columns)


@attach(Tensor)
class Printed:
    """A Tensor as text."""

    def __repr__(self: Any) -> str:
        head = (
            f"Tensor(shape={self.shape}, dtype={self.dtype.name}, place={self.place!r}, "
            f"stop_gradient={self.stop_gradient},\n       "
        )
        return head + array_text(dense(self), 7) + ")"

    __str__ = __repr__


@attach(Parameter)
class ParameterPrinted:
    """A Parameter as text."""

    def __repr__(self: Any) -> str:
        return "Parameter containing:\n" + Tensor.__repr__(self)

    __str__ = __repr__
