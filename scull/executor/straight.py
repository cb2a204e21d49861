"""Runs that are one function, from what is fed to what is fetched: no frame lies between."""

from typing import Any

from numpy import empty

from scull.executor.binding import Bound
from scull.executor.call import Call


class Straight:
    """The one region of a bound plan, which takes its arrays from the feed and from cells.

    Called with a feed, it gives what is fetched, or None where the frame has to tell what is wrong:
    the code itself looks whether arrays are those that it was made for.
    """

    __slots__ = ("call", "cells", "free", "made", "names", "order", "taken")

    def __init__(
        self, call: Call, names: list[str], cells: list[Any], taken: list[int], order: list[int]
    ) -> None:
        self.call, self.names, self.cells, self.taken = call, names, cells, taken
        self.made, self.order = call.made, order  # the outputs that are fetched, by number
        self.free = [call.entry(taken)]

    def __call__(self, feed: Any) -> list[Any] | None:
        made = [empty(shape, dtype) for shape, dtype in self.made]
        try:
            enter = self.free.pop()
        except IndexError:  # other threads have them all
            enter = self.call.entry(self.taken)
        found = enter(*[feed[n] for n in self.names], *[c.value for c in self.cells], *made)
        self.free.append(enter)
        return None if found is not None else [made[n] for n in self.order]


def straight_of(bound: Bound, call: Call) -> Straight | None:
    """The short way of a bound plan that is one region; None where more has to be done."""
    if call.told or call.takes or call.heights or call.draws is not None or not call.ready:
        return None
    if bound.sequences or bound.begun or bound.stores or bound.left or bound.checked:
        return None
    if any(copy or slot not in call.puts for slot, copy in bound.fetches):
        return None
    fed = {feed.slot: feed.name for feed in bound.feeds}
    cells = {slot: cell for cell, slot in bound.cells}
    numbers = range(len(call.slots))
    if not all(slot in fed or slot in cells for slot in call.slots):
        return None
    given = [n for n in numbers if call.slots[n] in fed]
    held = [n for n in numbers if call.slots[n] not in fed]
    return Straight(
        call,
        [fed[call.slots[n]] for n in given],
        [cells[call.slots[n]] for n in held],
        given + held,
        [call.puts.index(slot) for slot, _ in bound.fetches],
    )
