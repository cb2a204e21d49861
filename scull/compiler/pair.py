"""Sums of products of bfloat16, two terms at a time, for machines that add the products of pairs.

Both operands are copied with neighbours along an axis of the sum in one element of 32 bits; from
there on they are operands like others. The products are exact in float32, as they are one by one.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from math import prod

from scull import lang
from scull.compiler.affine import Affine, Positions
from scull.compiler.simplify import substituted
from scull.compiler.stage import contracts
from scull.compiler.target import target
from scull.compiler.trace import Statement
from scull.flags import flag
from scull.lang.body import Map, with_roots
from scull.lang.expression import (
    Apply,
    Array,
    Axis,
    Constant,
    Expression,
    Guard,
    Load,
    Reduce,
    only,
)
from scull.lang.walk import ordered, rewritten

WIDE = "float32"  # in which products of bfloat16 are exact
TIMES = 8  # an operand read more often than this is worth a copy
_numbers = count()

Copies = dict[tuple[object, ...], Array]


def unwidened(statements: Sequence[Statement]) -> list[Statement]:
    """The statements, sums of products of bfloat16 reading what was widened for them as it was."""
    if not target().has_pairs:
        return list(statements)
    narrow: dict[Array, Array] = {}
    found: list[Statement] = []
    for statement in statements:
        body = statement.body
        if isinstance(body, Map):
            changes = dict[Expression, Expression]()
            for node in ordered([body.value]) if contracts(body) else ():
                term = _as_it_was(node.operands[0], narrow) if isinstance(node, Reduce) else None
                if isinstance(node, Reduce) and term is not None:
                    changes[node] = only(Reduce, node.dtype, (term,), node.operation, node.axes)
            if changes:
                value = rewritten([body.value], lambda node: node, changes)[0]
                statement = replace(statement, body=replace(body, value=value))
            source = _widened(body)
            if source is not None:
                narrow[statement.out] = source
        found.append(statement)
    return found


def _widened(body: Map) -> Array | None:
    """The array of bfloat16 that a body makes float32 of."""
    match body.value:
        case Apply(operation="cast", operands=(Load(array=array, operands=places),)):
            same = len(places) == len(body.axes) and all(map(_is_at, places, body.axes))
            return (
                array if same and array.dtype == "bfloat16" and body.value.dtype == WIDE else None
            )
    return None


def _is_at(place: Expression, axis: Axis) -> bool:
    """Whether a place is where an axis stands."""
    return place is axis or (axis.size == 1 and isinstance(place, Constant))


def _as_it_was(term: Expression, narrow: Mapping[Array, Array]) -> Expression | None:
    """A product of two numbers that were widened, by those they were; None if it is none."""
    if not isinstance(term, Apply) or term.operation != "multiply" or term.dtype != WIDE:
        return None
    first, second = (_number(x, narrow) for x in term.operands)
    return (
        None
        if first is None or second is None
        else lang.cast(first, WIDE) * lang.cast(second, WIDE)
    )


def _number(factor: Expression, narrow: Mapping[Array, Array]) -> Expression | None:
    match factor:
        case Load(array=array, operands=index) if array in narrow:
            return narrow[array][tuple(index)]
        case Apply(operation="cast", operands=(x,)) if x.dtype == "bfloat16":
            return x
        case Guard(operands=(condition, value, Constant(value=0))):
            inner = _number(value, narrow)
            return None if inner is None else lang.guarded(condition, inner, 0.0)
    return None


def with_pairs(
    body: Map,
    origin: str,
    found: list[Statement],
    copies: Copies,
    once: set[Array],
    cut: Collection[Array],
) -> Map:
    """A body whose products of bfloat16 are products of pairs; copies are added to `found`.

    What is copied of arrays that are computed `once` is so, too. Arrays that are `cut` into strips
    are nowhere as a whole: there is no copy of them.
    """
    done: dict[Expression, Expression] = {}
    around = prod(axis.size for axis in body.axes)
    for node in ordered([body.value]):
        if not isinstance(node, Reduce) or not takes_pairs(node):
            continue
        loads = _factors(node.operands[0])
        times = around * prod(axis.size for axis in node.axes)
        if not loads or any(x.array in cut or times <= _least(x.array, once) for x in loads):
            continue
        for axis in reversed(node.axes):
            half = lang.axis(axis.size // 2)
            where = [_halved(x, axis, half) for x in loads] if axis.size % 2 == 0 else []
            if where and None not in where:
                break
        else:
            continue
        lanes = next((x for x in reversed(body.axes) if x.size > 1), None)
        pairs = [
            _in_pairs(x, spot, origin, found, copies, once, last=lanes not in x.free)
            for x, spot in zip(loads, where, strict=True)
            if spot is not None
        ]
        axes = tuple(half if x is axis else x for x in node.axes)
        term = lang.pair_dot(*pairs)
        done[node] = only(Reduce, WIDE, (term,), "sum", axes)
    if not done:
        return body
    value = rewritten([body.value], lambda node: node, done)[0]
    made = with_roots(body, [substituted(value, {}, Positions())])
    assert isinstance(made, Map)
    return made


def takes_pairs(node: Reduce) -> bool:
    """Whether it adds products of bfloat16 that the machine takes by pairs.

    The instruction takes numbers too small for all their digits for 0: not where these are kept.
    """
    (term,) = node.operands
    if not target().has_pairs or flag("FLUSH") == "never":
        return False
    if node.operation != "sum" or node.dtype != WIDE or all(x.size % 2 for x in node.axes):
        return False
    if not isinstance(term, Apply) or term.operation != "multiply":
        return False
    cast = [x for x in term.operands if isinstance(x, Apply) and x.operation == "cast"]
    return [x.operands[0].dtype for x in cast] == ["bfloat16"] * 2


def _factors(term: Expression) -> list[Load]:
    """The two elements that a term multiplies; nothing if one is not read as it is."""
    loads = [x for each in term.operands for x in each.operands if isinstance(x, Load)]
    return loads if len(loads) == 2 else []


def _least(array: Array, once: set[Array]) -> int:
    return array.size if array in once else TIMES * array.size


@dataclass(frozen=True)
class Halved:
    """An index in which half an axis counts pairs, and along which axis of the array they lie."""

    index: tuple[Expression, ...]
    place: int


def _halved(load: Load, axis: Axis, half: Axis) -> Halved | None:
    """Where pairs lie, if neighbours along `axis` are neighbours along one axis of the array."""
    index, places, positions = list[Expression](), list[int](), Positions()
    for place, (spot, size) in enumerate(zip(load.operands, load.array.shape, strict=True)):
        match spot:
            case Apply(operation="remainder", operands=(Axis() as x, Constant(value=many))) if (
                x is axis and many % 2 == 0 and size % 2 == 0
            ):
                index.append(half % (int(many) // 2))
                places.append(place)
            case Apply(operation="floor_divide", operands=(Axis() as x, Constant(value=many))) if (
                x is axis and many % 2 == 0
            ):
                index.append(half // (int(many) // 2))
            case _ if axis not in spot.free:
                index.append(spot)
            case _ if (even := _even(positions.of(spot), axis, half)) and size % 2 == 0:
                index.append(positions.expression(even))
                places.append(place)
            case _:
                return None
    return Halved(tuple(index), places[0]) if len(places) == 1 else None


def _even(spot: Affine, axis: Axis, half: Axis) -> Affine | None:
    """Half a place, where all but the axis in it is an even number."""
    rest = {node: many // 2 for node, many in spot.terms.items() if node is not axis}
    odd = any(many % 2 for node, many in spot.terms.items() if node is not axis)
    if odd or spot.constant % 2 or spot.step(axis) != 1:
        return None
    return Affine(spot.constant // 2, {**rest, half: 1})


def _in_pairs(
    load: Load,
    where: Halved,
    origin: str,
    found: list[Statement],
    copies: Copies,
    once: set[Array],
    *,
    last: bool,
) -> Expression:
    """The pair of which a load reads the first and the second, in a copy of its array.

    A matrix unit reads pairs of rows side by side: the axis of pairs is the `last` of the copy.
    """
    place, array = where.place, load.array
    order = list(range(array.ndim))
    if last and target().has_matrix:
        order = [n for n in order if n != place] + [place]
    key = (array, "pairs", place, *order)
    if key not in copies:
        axes = tuple(lang.axis(n // 2 if i == place else n) for i, n in enumerate(array.shape))
        first, second = (
            array[tuple(x * 2 + n if i == place else x for i, x in enumerate(axes))] for n in (0, 1)
        )
        own = tuple(axes[n] for n in order)
        out = Array(f"two{next(_numbers)}", tuple(x.size for x in own), "uint32")
        value = substituted(lang.pair(first, second), {}, Positions())
        found.append(Statement(out, Map(own, value), origin))
        copies[key] = out
        if array in once:
            once.add(out)
    return copies[key][tuple(where.index[n] for n in order)]
