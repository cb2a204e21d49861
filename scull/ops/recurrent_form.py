"""The sizes of recurrent networks, and where their weights and what they keep lie."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from scull.errors import ShapeError
from scull.ops.recurrent_cell import CELLS


@dataclass(frozen=True)
class Form:
    """The sizes of a network, and which weights belong to which cell."""

    steps: int
    batch: int
    inputs: int
    hidden: int
    layers: int
    ways: int
    mode: str

    @property
    def cells(self) -> int:
        return self.layers * self.ways

    def width(self, layer: int) -> int:
        """How many numbers a layer reads at each step."""
        return self.hidden * self.ways if layer else self.inputs

    def weights(self, given: list[Any], cell: int) -> list[Any]:
        """The weights of one cell: all matrices come first, then all biases."""
        biases = 2 * self.cells + 2 * cell
        return [*given[2 * cell : 2 * cell + 2], *given[biases : biases + 2]]

    def kept(self, reserve: Any) -> Iterator[list[Any]]:
        """What the way back needs of each cell, out of the one array it is kept in."""
        cell, begin = CELLS[self.mode], 0
        for _ in range(self.cells):
            parts = []
            for shape in (
                (cell.states, self.steps + 1, self.batch, self.hidden),
                (cell.kept, self.steps, self.batch, self.hidden),
            ):
                size = int(np.prod(shape))
                parts.append(reserve[begin : begin + size].reshape(shape))
                begin += size
            yield parts


def form_of(x: Any, attrs: dict[str, Any]) -> Form:
    """The form for an input and the attributes of the operator."""
    if len(x.shape) != 3:
        raise ShapeError(f"input has {len(x.shape)} axes, 3 are needed")
    if x.shape[0] == 0:
        raise ShapeError(f"input of shape {list(x.shape)} has no step")
    ways = 2 if attrs["is_bidirec"] else 1
    sizes = (attrs["hidden_size"], attrs["num_layers"], ways, attrs["mode"])
    return Form(*x.shape, *sizes)
