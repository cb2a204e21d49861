"""Levels of detail at the edges of a run: of what is fed, and of what is fetched."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from scull.core.op import MARK
from scull.errors import FeedError, RunError
from scull.ops.level import packed, unpacked
from scull.runtime.scope import Cell, ScopeTensor

GRADIENT = "@GRAD"


def with_levels(bound: Any, feed: Mapping[str, Any]) -> dict[str, Any]:
    """What is fed, and the levels of what a plan asks them of."""
    names = [e.name for e in bound.feeds if e.name.endswith(MARK)]
    return {**feed, **{n: levels_of(n.removesuffix(MARK), feed) for n in names}}


def levels_of(name: str, feed: Mapping[str, Any]) -> Any:
    """The levels of what is fed for one input, as a vector."""
    value = feed[name]
    levels = value.cell.lod if isinstance(value, ScopeTensor) else []
    if levels:
        refuse_unfit(levels, np.asarray(value).shape, name)
    return packed(levels)


def refuse_unfit(levels: Any, shape: tuple[int, ...], name: str) -> None:
    """Refuse levels that do not end where what they divide ends: the next level, or the rows."""
    counts = [len(level) - 1 for level in levels[1:]] + list(shape[:1])
    for i, (level, count) in enumerate(zip(levels, counts, strict=True)):
        falls = any(b < a for a, b in pairwise(level))
        if not level or level[0] != 0 or falls or level[-1] != count:
            what = "rows" if i == len(levels) - 1 else "sequences in the next level"
            raise FeedError(
                f"level {i} of detail of the input `{name}` is {list(level)[:9]}; it rises from 0 "
                f"to the number of {what}, {count}"
            )


def levelled(bound: Any, values: list[Any], return_numpy: bool) -> list[Any]:
    """The fetched values that are asked for, with the levels fetched behind them.

    RunError where an array would lose them; that of a gradient does without.
    """
    plan = bound.plan
    asked = values[: len(plan.levels)]
    for i, (value, place) in enumerate(zip(asked, plan.levels, strict=True)):
        levels = [] if place < 0 else unpacked(np.asarray(values[place]))
        if not levels:
            continue
        name = plan.variables[plan.fetches[i][0]].name
        if not return_numpy:
            held = value if type(value) is ScopeTensor else ScopeTensor(Cell(name, value))
            held.set_lod([level.tolist() for level in levels])
            asked[i] = held
        elif GRADIENT not in name:
            raise RunError(
                "Some of your fetched tensors hold LoD information. They can not be completely "
                f"cast to Python ndarray: `{name}` has the levels "
                f"{[level.tolist() for level in levels]}. "
                "Please set the parameter 'return_numpy' as 'False' to return LoDTensor itself "
                "directly"
            )
    return asked
