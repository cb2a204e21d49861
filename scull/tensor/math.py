"""What Paddle has in its module `math`, and arithmetic whose second operand begins at an axis."""

from typing import Any

from scull.core.door import shown_by
from scull.nn.functional.naming import named
from scull.ops import elementwise

__getattr__ = shown_by("scull.tensor")


def _add_with_axis(x: Any, y: Any, axis: int = -1, name: str | None = None) -> Any:
    return elementwise.add(x, y, axis=axis, **named(name))


def _subtract_with_axis(x: Any, y: Any, axis: int = -1, name: str | None = None) -> Any:
    return elementwise.subtract(x, y, axis=axis, **named(name))


def _multiply_with_axis(x: Any, y: Any, axis: int = -1, name: str | None = None) -> Any:
    return elementwise.multiply(x, y, axis=axis, **named(name))


def _divide_with_axis(x: Any, y: Any, axis: int = -1, name: str | None = None) -> Any:
    return elementwise.divide(x, y, axis=axis, **named(name))
