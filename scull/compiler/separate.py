"""Reductions that vary with fewer axes than what is around them, each once as a statement.

The mean of a channel is the same wherever the channel is read: a lowering says it within each
element, and here it becomes an array of its own, shared by all that say the same. So do sums at
places before they are rounded, and what they begin as.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from math import prod

from scull.compiler.trace import Statement
from scull.lang.body import Map, Scatter, cleared
from scull.lang.expression import (
    Apply,
    Array,
    Axis,
    Constant,
    Expression,
    Guard,
    Load,
    Reduce,
    axis,
    cast,
)
from scull.lang.walk import ordered, rewritten

Key = tuple[object, ...]


def separated(statements: Sequence[Statement]) -> list[Statement]:
    """The statements, with reductions of their own before them."""
    made: dict[Key, Array] = {}
    numbers = count()
    found: list[Statement] = []
    for statement in statements:
        found += _parts(statement, made, numbers)
    return found


def _parts(
    statement: Statement, made: dict[Key, Array], numbers: "count[int]"
) -> Iterator[Statement]:
    body = statement.body
    if not isinstance(body, Map):
        yield from rounding(statement)
        return
    changes: dict[Expression, Expression] = {}
    for node in smaller(body):
        free, key = canonical(node)
        if key not in made:
            shape = tuple(x.size for x in free)
            made[key] = Array(f"{statement.out.name}_r{next(numbers)}", shape, node.dtype)
            own: dict[Expression, Expression] = {x: axis(x.size) for x in free}
            value = rewritten([node], lambda x: x, own.copy())[0]
            axes = tuple(x for x in own.values() if isinstance(x, Axis))
            part = Statement(made[key], Map(axes, value), statement.origin)
            yield from _parts(part, made, numbers)
        changes[node] = made[key][free]
    if changes:
        value = rewritten([body.value], lambda x: x, changes)[0]
        body = replace(body, value=value)
    yield replace(statement, body=body)


def rounding(statement: Statement) -> Iterator[Statement]:
    """A statement; sums at places as statements that widen, clear, add and round, as they ask."""
    out, body = statement.out, statement.body
    if not isinstance(body, Scatter) or not (body.rounded or body.anew):
        yield statement
        return
    dtype, base = body.value.dtype, body.base
    if base is not None and base.dtype != dtype:
        wide = Array(f"{out.name}_w", out.shape, dtype)
        yield replace(statement, out=wide, body=_as(base, dtype))
        base = wide
    if body.anew:
        clear = Array(f"{out.name}_c", out.shape, dtype)
        yield replace(statement, out=clear, body=replace(cleared(body), base=base))
        base = clear
    sums = Array(f"{out.name}_s", out.shape, dtype) if body.rounded else out
    yield replace(statement, out=sums, body=replace(body, base=base, rounded="", anew=False))
    if body.rounded:
        yield replace(statement, body=_as(sums, out.dtype))


def _as(x: Array, dtype: str) -> Map:
    axes = tuple(axis(n) for n in x.shape)
    return Map(axes, cast(x[axes], dtype))


def smaller(body: Map) -> list[Reduce]:
    """The outermost reductions of fewer elements than they are asked for."""
    found: dict[Reduce, None] = {}
    pending: list[tuple[Expression, int]] = [(body.value, prod(x.size for x in body.axes))]
    seen: set[tuple[Expression, int]] = set()
    while pending:
        node, times = pending.pop()
        if (node, times) in seen:
            continue
        seen.add((node, times))
        if isinstance(node, Reduce):
            if prod(x.size for x in node.free) < times and not _is_folded(node):
                found[node] = None
                continue
            times *= prod(x.size for x in node.axes)
        inner = node.operands[:1] if isinstance(node, Guard) else node.operands
        pending.extend((x, times) for x in inner)
    return list(found)


def _is_folded(node: Reduce) -> bool:
    """Whether a reduction takes less work than reading its result would."""
    return not any(isinstance(x, Load) for x in ordered(node.operands))


def canonical(root: Reduce) -> tuple[tuple[Axis, ...], Key]:
    """The free axes of a reduction in the order in which they occur, and what it says of them.

    Two reductions over other axes that say the same have one key.
    """
    places: dict[Expression, int] = {}
    facts: list[Key] = []
    nodes = ordered([root])
    axes = {x: n for n, x in enumerate(x for x in nodes if isinstance(x, Axis))}
    kinds: dict[type, Callable[..., Key]] = {
        Axis: lambda x: (x.size, axes[x], x in root.free),
        Constant: lambda x: (repr(x.value),),
        Load: lambda x: (x.array,),
        Apply: lambda x: (x.operation,),
        Guard: lambda x: (),
        Reduce: lambda x: (x.operation, *((y.size, axes.get(y)) for y in x.axes)),
    }
    for node in nodes:
        operands = tuple(places[x] for x in node.operands)
        facts.append((type(node).__name__, node.dtype, operands, *kinds[type(node)](node)))
        places[node] = len(places)
    return tuple(x for x in axes if x in root.free), tuple(facts)
