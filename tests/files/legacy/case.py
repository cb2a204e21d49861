"""One operator as Paddle 1.8 wrote it into a file: type, slots, attributes, arrays to run it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

import numpy as np

UNTOLD = ("XShape", "ReserveSpace", "SavedMean", "SavedVariance")  # results nobody may read


@dataclass(frozen=True)
class Case:
    """One operator of an old file."""

    name: str
    type: str
    inputs: dict[str, Any]  # arrays, or lists of them, by slot
    outputs: dict[str, str]  # element types by slot
    attrs: dict[str, Any] = field(default_factory=dict)
    expected: Callable[..., Any] | None = None  # of the inputs: all outputs
    version: int = 0  # of the operator; 0 is that of files which tell none
    same: dict[str, str] = field(default_factory=dict)  # results that lie in an input
    unknown: bool = False  # whether the file knows the last two sizes of its inputs

    def result(self, slot: str) -> str:
        """The name of the variable in an output slot."""
        return self.same.get(slot, f"{slot}_out")

    def feed(self) -> dict[str, Any]:
        """The arrays by the names of their variables."""
        return {
            f"{slot}.{i}": x
            for slot, given in self.inputs.items()
            for i, x in enumerate(given if isinstance(given, list) else [given])
        }

    def fetched(self) -> list[str]:
        """The output slots whose results are compared."""
        return [s for s in self.outputs if s not in UNTOLD]


class Generator:
    """Arrays that are the same in every run."""

    def __init__(self, name: str) -> None:
        self.random = np.random.RandomState(crc32(name.encode()))

    def real(self, *shape: int, low: float = -1.0, high: float = 1.0) -> Any:
        return self.random.uniform(low, high, shape).astype("float32")

    def whole(self, *shape: int, high: int = 5, dtype: str = "int64") -> Any:
        return self.random.randint(0, high, shape).astype(dtype)


def one(name: str, x: Any, out: str = "float32", *, type: str = "", **attrs: Any) -> Case:
    """A case of an operator from X to Out."""
    return Case(name, type or name.split(".")[0], {"X": x}, {"Out": out}, attrs)
