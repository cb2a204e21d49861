"""Random numbers in lowerings: what `scull.core.random` makes of the words of a draw."""

import math
from typing import Any

from scull import lang

Draw = tuple[Any, Any]  # the seed and the number, each a uint64


def place_of(index: Any) -> Any:
    """Which element of an array an index of axes names."""
    return lang.ravel(index, [axis.size for axis in index])


def uniform_at(draw: Draw, place: Any, dtype: str) -> Any:
    """A number in [0, 1): the top 53 bits of a word as float64, else 24 of half one as float32."""
    if dtype == "float64":
        bits = lang.random_bits(draw, place)
        return lang.cast(lang.cast(bits >> 11, "int64"), "float64") * 2.0**-53
    bits = lang.random_half(draw, place)
    return lang.cast(lang.cast(bits >> 8, "int32"), "float32") * 2.0**-24


def gaussian_at(draw: Draw, place: Any) -> Any:
    """A normal number by the Box-Muller transform of two words, in float64."""
    radius, angle = (uniform_at(draw, place * 2 + n, "float64") for n in range(2))
    return lang.sqrt(lang.log1p(-radius) * -2.0) * lang.cos(angle * (2.0 * math.pi))
