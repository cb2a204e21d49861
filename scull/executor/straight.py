"""Runs that are one function, from what is fed to what is fetched: no frame lies between."""

from typing import Any

from numpy import empty

from scull.executor.binding import Bound
from scull.executor.call import Call


class Straight:
    """The one region of a bound plan, which takes its arrays from the feed and from cells.

    Called with a feed, it gives what is fetched, or None where the frame has to tell what is wrong:
    the code itself looks whether arrays are those that it was made for.

    Args:
        call: the region, whose ways into the code serve here, too.
        cells: what holds its other inputs, in order.
        fed: where the inputs that are fed stand among all, and their names; in order.
        order: the outputs that are fetched, by number; None: all, as they are made.
    """

    __slots__ = ("call", "cells", "fed", "order")

    def __init__(
        self, call: Call, cells: list[Any], fed: list[tuple[int, str]], order: list[int] | None
    ) -> None:
        self.call, self.cells, self.fed, self.order = call, cells, fed, order

    def __call__(self, feed: Any) -> list[Any] | None:
        call, given = self.call, [cell.value for cell in self.cells]
        for place, name in self.fed:
            given.insert(place, feed[name])
        made: list[Any] = []
        for shape, dtype in call.made:
            made.append(empty(shape, dtype))
        given += made
        try:
            enter = call.free.pop()
        except IndexError:  # other threads have them all
            enter = call.entry(range(len(call.slots)))
        found = enter(*given)
        call.free.append(enter)
        if found is not None:
            return None
        return made if self.order is None else [made[n] for n in self.order]


def straight_of(bound: Bound, call: Call) -> Straight | None:
    """The short way of a bound plan that is one region; None where more has to be done."""
    if call.told or call.takes or call.heights or call.draws is not None or not call.ready:
        return None
    if bound.sequences or bound.begun or bound.stores or bound.left or bound.checked:
        return None
    if any(copy or slot not in call.puts for slot, copy in bound.fetches):
        return None
    names = {feed.slot: feed.name for feed in bound.feeds}
    cells = {slot: cell for cell, slot in bound.cells}
    if not all(slot in names or slot in cells for slot in call.slots):
        return None
    fed = [(n, names[slot]) for n, slot in enumerate(call.slots) if slot in names]
    held = [cells[slot] for slot in call.slots if slot not in names]
    order = [call.puts.index(slot) for slot, _ in bound.fetches]
    return Straight(call, held, fed, None if order == list(range(len(call.made))) else order)
