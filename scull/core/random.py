"""Counter-based random numbers: a draw is a number, an element's index completes the counter.

The words are those of Philox4x64-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
SC 2011) with the key (seed, draw).
"""

from typing import Any, NamedTuple

import numpy as np


class Draw(NamedTuple):
    """The key of one operator's random words."""

    seed: int
    number: int


class Generator:
    """A seed and the number of the next draw."""

    def __init__(self, seed: int = 0) -> None:
        self.seed, self.number = seed & (2**64 - 1), 0

    def manual_seed(self, seed: int) -> "Generator":
        """Start the draws of `seed` from the first."""
        self.seed, self.number = int(seed) & (2**64 - 1), 0
        return self

    def initial_seed(self) -> int:
        """The seed given last."""
        return self.seed

    def get_state(self) -> tuple[int, int]:
        """What `set_state` needs to go on from here."""
        return self.seed, self.number

    def set_state(self, state: tuple[int, int]) -> None:
        """Go on from a saved state."""
        self.seed, self.number = state

    def draw(self, seed: int = 0) -> Draw:
        """The next draw; an operator's own `seed`, if not 0, always gives its first."""
        if seed:
            return Draw(seed & (2**64 - 1), 0)
        return self.reserve(1)

    def reserve(self, count: int) -> Draw:
        """The first of `count` draws that nobody else gets."""
        number = self.number
        self.number = number + count
        return Draw(self.seed, number)


def words(draw: Draw, count: int) -> Any:
    """`count` random 64-bit words of one draw."""
    key = np.array([draw.seed, draw.number], np.uint64)
    return np.random.Philox(key=key).random_raw(count)


def uniform(draw: Draw, shape: tuple[int, ...], dtype: Any) -> Any:
    """Numbers in [0, 1): the top 24 bits of a word as float32, the top 53 as float64."""
    bits = words(draw, int(np.prod(shape, dtype=np.int64))).reshape(shape)
    if np.dtype(dtype) == np.float64:
        return (bits >> np.uint64(11)) * 2.0**-53
    return (bits >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-24)


def gaussian(draw: Draw, shape: tuple[int, ...], dtype: Any) -> Any:
    """Normal numbers by the Box-Muller transform of two words each, computed in float64."""
    count = int(np.prod(shape, dtype=np.int64))
    bits = words(draw, 2 * count).reshape(count, 2)
    unit = (bits >> np.uint64(11)) * 2.0**-53
    radius = np.sqrt(-2.0 * np.log1p(-unit[:, 0]))
    return (radius * np.cos(2.0 * np.pi * unit[:, 1])).reshape(shape).astype(dtype)
