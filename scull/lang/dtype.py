"""What the loop language knows of an element type, by its name."""

from dataclasses import dataclass
from typing import Literal

from scull.errors import DtypeError

Kind = Literal["bool", "integer", "float"]


@dataclass(frozen=True)
class Element:
    """One element type: its `bits` in memory; of a float, how many are the `fraction`."""

    name: str
    kind: Kind
    bits: int
    signed: bool = True
    fraction: int = 0

    @property
    def lowest(self) -> float | int:
        """The least value: minus infinity for floats."""
        if self.kind == "float":
            return float("-inf")
        return -(1 << (self.bits - 1)) if self.signed and self.kind == "integer" else 0

    @property
    def highest(self) -> float | int:
        """The greatest value: infinity for floats."""
        if self.kind == "float":
            return float("inf")
        if self.kind == "bool":
            return 1
        return (1 << (self.bits - self.signed)) - 1

    @property
    def itemsize(self) -> int:
        """Bytes of one element in memory."""
        return self.bits // 8


ELEMENTS = {
    element.name: element
    for element in (
        Element("bool", "bool", 8, signed=False),
        Element("int8", "integer", 8),
        Element("int16", "integer", 16),
        Element("int32", "integer", 32),
        Element("int64", "integer", 64),
        Element("uint8", "integer", 8, signed=False),
        Element("uint16", "integer", 16, signed=False),
        Element("uint32", "integer", 32, signed=False),
        Element("uint64", "integer", 64, signed=False),
        Element("float16", "float", 16, fraction=10),
        Element("bfloat16", "float", 16, fraction=7),
        Element("float32", "float", 32, fraction=23),
        Element("float64", "float", 64, fraction=52),
    )
}

HALF = ("float16", "bfloat16")


def element(dtype: str) -> Element:
    """The facts about a dtype, or an error that lists those there are."""
    known = ELEMENTS.get(dtype)
    if known is None:
        raise DtypeError(f"the loop language has no `{dtype}`, only {', '.join(ELEMENTS)}")
    return known
