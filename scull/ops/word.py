"""Random numbers in lowerings: what `scull.core.random` makes of the words of a draw."""

from typing import Any

from scull import lang
from scull.core.normal import BEGIN, CENTRAL, EDGE, FROM, MIDDLE
from scull.core.random import MIDST

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
    """A normal number, the quantile of a word, in float64."""
    return quantile_at(uniform_at(draw, place, "float64") + MIDST)


def quantile_at(q: Any) -> Any:
    """The normal quantile of one element (`scull.core.normal.quantile`)."""

    def ratio(parts: tuple[tuple[float, ...], tuple[float, ...]], x: Any) -> Any:
        return polynomial(parts[0], x) / polynomial(parts[1], x)

    def polynomial(factors: tuple[float, ...], x: Any) -> Any:
        total = lang.constant(factors[0], "float64")
        for factor in factors[1:]:
            total = total * x + factor
        return total

    central = q * ratio(CENTRAL, FROM - q * q)
    middle = abs(ratio(MIDDLE, lang.sqrt(-lang.log(0.5 - abs(q))) - BEGIN))
    return lang.select(abs(q) <= EDGE, central, lang.select(q < 0.0, -middle, middle))
