"""Runs that are one function, from what is fed to what is fetched: no frame lies between.

What cells hold is looked up and checked once, as long as no cell gets another value. An array whose
flags, shape or dtype are changed in place is the same value: that is not seen.
"""

from typing import Any

from numpy import empty

from scull.executor.binding import Bound
from scull.executor.call import Call, Way
from scull.runtime.cell import HOLDING, Cell, epoch


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

    __slots__ = ("__weakref__", "call", "cells", "fed", "held", "lasts", "names", "order")

    def __init__(
        self, call: Call, cells: list[Any], fed: list[tuple[int, str]], order: list[int] | None
    ) -> None:
        self.call, self.cells, self.fed, self.order = call, cells, fed, order
        self.names = [name for _, name in fed]
        self.lasts = all(type(cell) is Cell for cell in cells)  # others do not tell of new values
        self.held: tuple[object, list[Any]] | None = None  # an epoch, and what cells have in it

    def __call__(self, feed: Any) -> list[Any] | None:
        call, held = self.call, self.held
        made: list[Any] = []
        for shape, dtype in call.made:
            made.append(empty(shape, dtype))
        try:
            way = call.free.pop()
        except IndexError:  # other threads have them all
            way = call.way()
        if held is not None and way.mark is held[0] is epoch[0]:
            found = way.few(*[feed[name] for name in self.names], *made)
        else:
            found = self.entered(way, feed, made)
        call.free.append(way)
        if found is not None:
            return None
        return made if self.order is None else [made[n] for n in self.order]

    def entered(self, way: Way, feed: Any, made: list[Any]) -> Any:
        """What the code answers to all inputs; the next time, the way has those of cells."""
        held, now = self.held, epoch[0]
        if held is None or held[0] is not now:
            held = (now, [cell.value for cell in self.cells])
        if self.lasts and held is not self.held:
            self.held = held
            HOLDING[id(self)] = self
        given = held[1].copy()
        for place, name in self.fed:
            given.insert(place, feed[name])
        way.mark = None
        found = way.enter(*given, *made)
        if found is None and self.lasts:
            if way.few is None:
                way.few = self.call.entry(way.room, [place for place, _ in self.fed])
            way.mark = now
        return found


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
