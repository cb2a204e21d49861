"""The search along a line for a step that meets the strong conditions of Wolfe, in both modes."""

from collections.abc import Callable
from typing import Any, NamedTuple

from scull import tensor
from scull.static.nn.control_flow import while_loop

DECREASE, CURVATURE = 1e-4, 0.9  # the constants of the two conditions
LONGEST = 10.0
NARROWEST = 1e-8


class Point(NamedTuple):
    """A place on the line: how far along it, and the function, its slope and its gradient there."""

    place: Any
    value: Any
    slope: Any
    gradient: Any


Line = Callable[[Any], Point]


def number(value: Any, dtype: str) -> Any:
    """A tensor of one element."""
    return tensor.full([1], value, dtype)


def copied(point: Point) -> Point:
    """A point of its own: a loop of a Program writes into what it begins with."""
    return Point(*map(tensor.assign, point))


def chosen(condition: Any, one: Point, other: Point) -> Point:
    """`one` where `condition` holds, else `other`."""
    return Point(*(tensor.where(condition, x, y) for x, y in zip(one, other, strict=True)))


def strong_wolfe(at: Line, length: float, rounds: int, dtype: str) -> tuple[Point, Any]:
    """A point that is lower and flatter than the start, and how often the function was called.

    Nocedal and Wright, "Numerical optimization", 2006, algorithms 3.5 and 3.6. It is the start
    where no interval is found that has such a point. Each search has at most so many `rounds`.
    The call with which the second one ends is not counted, as in Paddle.
    """
    start = at(number(0.0, dtype))
    low, high, calls = bracket(at, start, length, rounds, dtype)
    point, more = zoom(at, start, low, high, rounds)
    return point, 1 + calls + more


def is_high(point: Point, start: Point) -> Any:
    """Whether `point` is not lower enough than `start`."""
    return point.value > start.value + DECREASE * point.place * start.slope


def is_flat(point: Point, start: Point) -> Any:
    """Whether the slope at `point` is small enough."""
    return tensor.abs(point.slope) <= -CURVATURE * start.slope


def bracket(
    at: Line, start: Point, length: float, rounds: int, dtype: str
) -> tuple[Point, Point, Any]:
    """Two points with a good one between them, the lower first, or a good one twice; the calls."""

    def goes_on(i: Any, ended: Any, *_: Any) -> Any:
        return (i < rounds) & ~ended

    def extended(i: Any, ended: Any, length: Any, before: Point, _: Point) -> list[Any]:
        point = at(length)
        lost = tensor.isinf(point.value)
        high = is_high(point, start) | ((point.value >= before.value) & (i > 1))
        good = ~high & is_flat(point, start)
        ended = lost | high | good | (point.slope >= 0)
        low = chosen(lost, start, chosen(high, before, point))
        other = chosen(lost, start, chosen(high | good, point, before))
        return [i + 1, ended, tensor.minimum(2 * length, number(LONGEST, dtype)), low, other]

    state: list[Any] = [number(0, "int64"), number(False, "bool"), number(length, dtype)]
    state += [copied(start), copied(start)]
    calls, ended, _, low, high = while_loop(goes_on, extended, state)
    return chosen(ended, low, start), chosen(ended, high, start), calls


def zoom(at: Line, start: Point, low: Point, high: Point, rounds: int) -> tuple[Point, Any]:
    """The point between two that meets the conditions, or the lowest seen; the calls."""

    def goes_on(i: Any, found: Any, low: Point, high: Point) -> Any:
        return (i < rounds) & ~found & (tensor.abs(high.place - low.place) >= NARROWEST)

    def narrowed(i: Any, _: Any, low: Point, high: Point) -> list[Any]:
        point = at(between(low, high))
        worse = is_high(point, start) | (point.value >= low.value)
        found = ~worse & is_flat(point, start)
        passed = point.slope * (high.place - low.place) >= 0
        other = chosen(worse, point, chosen(passed, low, high))
        return [i + tensor.cast(~found, "int64"), found, chosen(worse, low, point), other]

    state = [number(0, "int64"), number(False, "bool"), copied(low), copied(high)]
    calls, _, low, _ = while_loop(goes_on, narrowed, state)
    return low, calls


def between(low: Point, high: Point) -> Any:
    """Where the cubic through two points is lowest; their middle where that is near an end."""
    first, last = tensor.minimum(low.place, high.place), tensor.maximum(low.place, high.place)
    middle, width = (first + last) / 2, last - first
    turn = low.slope + high.slope - 3 * (low.value - high.value) / (low.place - high.place)
    square = turn * turn - low.slope * high.slope
    sign = tensor.sign(high.place - low.place)
    root = sign * tensor.sqrt(tensor.maximum(square, tensor.zeros_like(square)))
    share = (high.slope + root - turn) / (high.slope - low.slope + 2 * root)
    lowest = high.place - (high.place - low.place) * share
    kept = (square >= 0) & (lowest >= first + 0.1 * width) & (lowest <= last - 0.1 * width)
    return tensor.where(kept, lowest, middle)
