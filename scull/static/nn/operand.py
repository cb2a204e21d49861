"""What layers ask of their operands."""

from typing import Any

from scull.errors import ArgumentTypeError
from scull.ir.variable import Variable


def checked(x: Any, name: str, layer: str) -> None:
    """Refuse what is no Variable."""
    if not isinstance(x, Variable):
        raise ArgumentTypeError(
            f"The type of '{name}' in {layer} must be Variable, but received {type(x)}."
        )
