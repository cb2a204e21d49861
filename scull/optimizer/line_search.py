"""The search along a line for a step that meets the strong conditions of Wolfe."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

DECREASE, CURVATURE = 1e-4, 0.9  # the constants of the two conditions
LONGEST = 25  # evaluations at most


@dataclass(frozen=True)
class Point:
    """A place on the line: how far along it, and the function, its gradient and slope there."""

    place: float
    value: float
    gradient: Any
    slope: Any


def strong_wolfe(
    evaluate: Callable[[float], tuple[float, Any]],
    start: Point,
    length: float,
    direction: Any,
    tolerance: float = 1e-9,
) -> Point:
    """A point that is lower enough than `start`, and flat enough.

    Nocedal and Wright, "Numerical optimization", 2006, algorithms 3.5 and 3.6.
    """

    def at(place: float) -> Point:
        value, gradient = evaluate(place)
        return Point(place, value, gradient, gradient @ direction)

    low, high, tries = bracket(at, start, length)
    if high is None:
        return low
    reach, stuck = abs(direction).max(), False
    while tries < LONGEST and abs(high.place - low.place) * reach >= tolerance:
        place, stuck = inner(low, high, stuck)
        found = at(place)
        tries += 1
        if too_high(found, start) or found.value >= low.value:
            low, high = ordered(low, found)
        else:
            if flat(found, start):
                return found
            if found.slope * (high.place - low.place) >= 0:
                high = low
            low = found
    return low


def too_high(point: Point, start: Point) -> bool:
    """Whether `point` is not lower enough than `start`."""
    return bool(point.value > start.value + DECREASE * point.place * start.slope)


def flat(point: Point, start: Point) -> bool:
    """Whether the slope at `point` is small enough."""
    return bool(abs(point.slope) <= -CURVATURE * start.slope)


def ordered(p: Point, q: Point) -> tuple[Point, Point]:
    """The lower point first."""
    return (p, q) if p.value <= q.value else (q, p)


def bracket(
    at: Callable[[float], Point], start: Point, length: float
) -> tuple[Point, Point | None, int]:
    """Two points with a good one between them, the lower first; or a good one and None."""
    before, point, tries = start, at(length), 0
    while tries < LONGEST:
        if too_high(point, start) or (tries > 1 and point.value >= before.value):
            break
        if flat(point, start):
            return point, None, tries
        if point.slope >= 0:
            break
        least = point.place + 0.01 * (point.place - before.place)
        place = lowest(before, point, (least, point.place * 10))
        before, point = point, at(place)
        tries += 1
    else:
        before = start
    return *ordered(before, point), tries


def inner(low: Point, high: Point, stuck: bool) -> tuple[float, bool]:
    """A place between two points, kept off the ends, and whether it came near them."""
    place = lowest(low, high, None)
    first, last = sorted((low.place, high.place))
    margin = 0.1 * (last - first)
    if min(last - place, place - first) >= margin:
        return place, False
    if stuck or place >= last or place <= first:
        near_last = abs(place - last) < abs(place - first)
        return (last - margin if near_last else first + margin), False
    return place, True


def lowest(p: Point, q: Point, bounds: tuple[float, float] | None) -> float:
    """Where the cubic through two points, with their slopes, is lowest between the bounds."""
    first, last = bounds or sorted((p.place, q.place))
    if p.place > q.place:
        p, q = q, p
    middle = p.slope + q.slope - 3 * (p.value - q.value) / (p.place - q.place)
    square = middle * middle - p.slope * q.slope
    if not square >= 0:
        return (first + last) / 2
    root = math.sqrt(square)
    share = (q.slope + root - middle) / (q.slope - p.slope + 2 * root)
    return float(min(max(q.place - (q.place - p.place) * share, first), last))
