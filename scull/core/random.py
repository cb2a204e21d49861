"""Counter-based random numbers: a draw is a number, an element's index completes the counter.

The words are those of Philox4x64-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
SC 2011) with the key (seed, draw).
"""

from collections.abc import Iterator
from threading import RLock
from typing import Any, NamedTuple

import numpy as np
from numpy.random.bit_generator import ISeedSequence

from scull.core.normal import quantile

PORTION = 1 << 16  # numbers made at once
# From a number of 53 bits in [0, 1) to the middle of its share of [-1/2, 1/2].
MIDST = 2.0**-54 - 0.5


class Draw(NamedTuple):
    """The key of one operator's random words."""

    seed: int
    number: int


class Key(ISeedSequence):
    """A draw, of which NumPy makes its generator; beside a `key=` it asks the system for a seed."""

    def __init__(self, draw: Draw) -> None:
        self.words = np.array([draw.seed, draw.number], np.uint64)

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Any:
        """The words of the key."""
        return self.words


class GeneratorState(tuple[int, int]):
    """What a generator needs to go on from here: its seed and the number of its next draw."""

    __slots__ = ()

    def current_seed(self) -> int:
        """The seed."""
        return self[0]


class Generator:
    """A seed and the number of the next draw.

    Who holds its `turn` draws alone: what does not know yet how often it will.
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed, self.number = seed & (2**64 - 1), 0
        self.turn = RLock()

    def manual_seed(self, seed: int) -> "Generator":
        """Start the draws of `seed` from the first."""
        self.set_state((int(seed) & (2**64 - 1), 0))
        return self

    def initial_seed(self) -> int:
        """The seed given last."""
        return self.seed

    def get_state(self) -> GeneratorState:
        """What `set_state` needs to go on from here."""
        return GeneratorState((self.seed, self.number))

    def set_state(self, state: tuple[int, int]) -> None:
        """Go on from a saved state."""
        with self.turn:
            self.seed, self.number = state

    def draw(self, seed: int = 0) -> Draw:
        """The next draw; an operator's own `seed`, if not 0, always gives its first."""
        if seed:
            return Draw(seed & (2**64 - 1), 0)
        return self.reserve(1)

    def reserve(self, count: int) -> Draw:
        """The first of `count` draws that nobody else gets."""
        with self.turn:
            number = self.number
            self.number = number + count
            return Draw(self.seed, number)


def words(draw: Draw, count: int) -> Any:
    """`count` random 64-bit words of one draw."""
    return philox(draw).random_raw(count)


def philox(draw: Draw) -> Any:
    """What gives the words of one draw one after the other."""
    return np.random.Philox(Key(draw))  # type: ignore[arg-type]  # any ISeedSequence will do


def source(draw: Draw) -> np.random.Generator:
    """NumPy's generator of the words of one draw."""
    return np.random.Generator(philox(draw))


def filled(shape: tuple[int, ...], dtype: Any) -> tuple[Any, Iterator[Any]]:
    """A new array, and all of it in portions in a row: to be filled from a few words at a time."""
    found = np.empty(shape, dtype)
    line = found.reshape(-1)
    return found, (line[i : i + PORTION] for i in range(0, line.size, PORTION))


def uniform(draw: Draw, shape: tuple[int, ...], dtype: Any) -> Any:
    """Numbers in [0, 1): the top 53 bits of a word as float64, 24 of half a word as float32.

    The lower half of a word comes first.
    """
    source, double = philox(draw), np.dtype(dtype) == np.float64
    found, parts = filled(shape, np.float64 if double else np.float32)
    for part in parts:
        if double:
            np.multiply(source.random_raw(part.size) >> np.uint64(11), 2.0**-53, part)
        else:
            halves = source.random_raw(-(-part.size // 2)).astype("<u8", copy=False).view("<u4")
            high = halves[: part.size] >> np.uint32(8)
            np.multiply(high.astype(np.float32), np.float32(2.0**-24), part)
    return found


def gaussian(draw: Draw, shape: tuple[int, ...], dtype: Any) -> Any:
    """Normal numbers: quantiles of the middles of what the top 53 bits of words leave open."""
    source = philox(draw)
    found, parts = filled(shape, dtype)
    for part in parts:
        unit = (source.random_raw(part.size) >> np.uint64(11)) * 2.0**-53
        unit += MIDST
        part[...] = quantile(unit)
    return found
