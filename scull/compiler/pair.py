"""Sums of products of bfloat16, two terms at a time, for machines that add the products of pairs.

Both operands are copied with neighbours along an axis of the sum in one element of 32 bits; from
there on they are operands like others. The products are exact in float32, as they are one by one.
"""

from collections.abc import Sequence
from itertools import count
from math import prod

from scull import lang
from scull.compiler.affine import Positions
from scull.compiler.fuse import substituted
from scull.compiler.target import target
from scull.compiler.trace import Statement
from scull.lang.body import Map, with_roots
from scull.lang.expression import Apply, Array, Axis, Expression, Load, Reduce, only
from scull.lang.walk import ordered, rewritten

_numbers = count()

TIMES = 8  # an operand read more often than this is worth a copy

Copies = dict[tuple[object, ...], Array]


def with_pairs(
    body: Map, origin: str, found: list[Statement], copies: Copies, once: set[Array]
) -> Map:
    """A body whose products of bfloat16 are products of pairs; copies are added to `found`.

    What is copied of arrays that are computed `once` is so, too.
    """
    if not target().has_pairs:
        return body
    done: dict[Expression, Expression] = {}
    around = prod(axis.size for axis in body.axes)
    for node in ordered([body.value]):
        if not isinstance(node, Reduce) or node.operation != "sum" or node.dtype != "float32":
            continue
        loads = _factors(node.operands[0])
        times = around * prod(axis.size for axis in node.axes)
        if not loads or any(times <= _least(x.array, once) for x in loads):
            continue
        axis = next((x for x in reversed(node.axes) if _halves(loads, x)), None)
        if axis is None:
            continue
        half = lang.axis(axis.size // 2)
        pairs = [_in_pairs(x, axis, half, origin, found, copies, once) for x in loads]
        axes = tuple(half if x is axis else x for x in node.axes)
        term = lang.pair_dot(*pairs)
        done[node] = only(Reduce("float32", (term,), "sum", axes), "sum", axes)
    if not done:
        return body
    value = rewritten([body.value], lambda node: node, done)[0]
    made = with_roots(body, [substituted(value, {}, Positions())])
    assert isinstance(made, Map)
    return made


def _factors(term: Expression) -> list[Load]:
    """The two elements of bfloat16 that a term multiplies; nothing if it is another term."""
    if not isinstance(term, Apply) or term.operation != "multiply":
        return []
    cast = [x for x in term.operands if isinstance(x, Apply) and x.operation == "cast"]
    loads = [x for each in cast for x in each.operands if isinstance(x, Load)]
    return loads if [x.dtype for x in loads] == ["bfloat16"] * 2 else []


def _least(array: Array, once: set[Array]) -> int:
    return array.size if array in once else TIMES * array.size


def _halves(loads: Sequence[Load], axis: Axis) -> bool:
    """Whether `axis` counts neighbours along one axis of each array, which are even in number."""
    return axis.size % 2 == 0 and all(_place(x, axis) is not None for x in loads)


def _place(load: Load, axis: Axis) -> int | None:
    places = [n for n, x in enumerate(load.operands) if axis in x.free]
    if len(places) != 1 or load.operands[places[0]] is not axis:
        return None
    return places[0] if load.array.shape[places[0]] % 2 == 0 else None


def _in_pairs(
    load: Load,
    axis: Axis,
    half: Axis,
    origin: str,
    found: list[Statement],
    copies: Copies,
    once: set[Array],
) -> Expression:
    """The pair of which a load reads the first and the second, in a copy of its array."""
    place, array = _place(load, axis), load.array
    assert place is not None
    if (array, "pairs", place) not in copies:
        shape = tuple(n // 2 if i == place else n for i, n in enumerate(array.shape))
        axes = tuple(lang.axis(n) for n in shape)
        first, second = (
            array[tuple(x * 2 + n if i == place else x for i, x in enumerate(axes))] for n in (0, 1)
        )
        out = Array(f"two{next(_numbers)}", shape, "uint32")
        value = substituted(lang.pair(first, second), {}, Positions())
        found.append(Statement(out, Map(axes, value), origin))
        copies[array, "pairs", place] = out
        if array in once:
            once.add(out)
    return copies[array, "pairs", place][tuple(half if x is axis else x for x in load.operands)]
