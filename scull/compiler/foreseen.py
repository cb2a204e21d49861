"""An array of which later statements want one function alone is stored as that.

A gradient computes the slope of an activation of what the activation was computed of. Where both
need the same exponentials, or the like, the slope is made beside the activation, which has them at
hand, and is kept in the place of what it is made of.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from scull.compiler.decision import decided
from scull.compiler.draw import draws
from scull.compiler.edge import finds_faults
from scull.compiler.fuse import FUNCTIONS, loads_of
from scull.compiler.trace import Statement
from scull.lang.body import Map, with_roots
from scull.lang.dtype import element
from scull.lang.expression import Apply, Array, Axis, Constant, Expression, Load, axis
from scull.lang.walk import ordered, rewritten

WHY = "all that is wanted of it later, where a part of it is computed in any case"


def with_foreseen(statements: Sequence[Statement], kept: Collection[Array]) -> list[Statement]:
    """The statements, those `kept` as they are."""
    made = {s.out: number for number, s in enumerate(statements)}
    readers: dict[Array, list[int]] = {}
    for number, statement in enumerate(statements):
        for array in {load.array for load in loads_of(statement.body)}:
            readers.setdefault(array, []).append(number)
    found = [[s] for s in statements]
    for number, statement in enumerate(statements):
        array, numbers = statement.out, readers.get(statement.out, [])
        if array in kept or not isinstance(statement.body, Map) or len(numbers) < 2:
            continue
        beside = [n for n in numbers if _may_follow(statements[n], array, made)]
        later = [n for n in numbers if n not in beside]
        axes = tuple(map(axis, array.shape))
        wanted = _wanted([found[n][0] for n in later], array, axes)
        if wanted is None or not _shares(wanted, [statements[n] for n in beside], array, axes):
            continue
        out = Array(f"{array.name}_foreseen", array.shape, wanted.dtype)
        found[number].append(Statement(out, Map(axes, wanted), found[later[0]][0].origin))
        for n in later:
            found[n][0] = _reading(found[n][0], array, out)
        decided("stored", out.name, array.name, WHY)
    return [s for some in found for s in some]


def _may_follow(reader: Statement, array: Array, made: Mapping[Array, int]) -> bool:
    """Whether a reader computes of an array, place by place, as soon as it is there."""
    body = reader.body
    if not isinstance(body, Map) or len(body.axes) != array.ndim:
        return False
    loads = loads_of(body)
    own = [
        pair for x in loads if x.array == array for pair in zip(x.operands, body.axes, strict=True)
    ]
    others = (made.get(x.array, -1) < made[array] for x in loads if x.array != array)
    return all(x is at or at.size == 1 for x, at in own) and all(others)


def _wanted(
    readers: Sequence[Statement], array: Array, axes: tuple[Axis, ...]
) -> Expression | None:
    """What readers compute of an array at `axes`, if that is all they want, and one thing."""
    found = set[Expression]()
    for reader in readers:
        loads = {x for x in loads_of(reader.body) if x.array == array}
        functions = set(_functions(reader.body.roots, array))
        if len(loads) != 1 or len(functions) != 1:
            return None
        found.update(_placed(functions, array, axes))
    (only,) = found if len(found) == 1 else (None,)
    if not isinstance(only, Apply) or finds_faults(only):
        return None
    return only if element(only.dtype).itemsize <= element(array.dtype).itemsize else None


def _functions(roots: Iterable[Expression], array: Array) -> list[Expression]:
    """The largest expressions of elements of an array and nothing else."""
    nodes = ordered(roots)
    alone: dict[Expression, bool] = {}  # whether an element occurs in them
    for node in nodes:
        plain = isinstance(node, Apply) and all(x in alone for x in node.operands)
        if isinstance(node, Constant) or (plain and not draws(node)):
            alone[node] = any(alone[x] for x in node.operands)
        elif isinstance(node, Load) and node.array == array:
            alone[node] = True
    above = [x for node in nodes if node not in alone for x in node.operands]
    return [x for x in dict.fromkeys((*roots, *above)) if alone.get(x)]


def _placed(nodes: Iterable[Expression], array: Array, axes: tuple[Axis, ...]) -> list[Expression]:
    """Expressions of elements of an array, of those at `axes`."""

    def change(node: Expression) -> Expression:
        return array[axes] if isinstance(node, Load) and node.array == array else node

    return rewritten(list(nodes), change, {})


def _shares(
    wanted: Expression, readers: Sequence[Statement], array: Array, axes: tuple[Axis, ...]
) -> bool:
    """Whether readers compute some of the dear parts of what is wanted, too."""
    roots = [x for s in readers for x in s.body.roots]
    near = ordered(_placed(_functions(roots, array), array, axes))
    return bool(_dear(near) & _dear(ordered([wanted])))


def _dear(nodes: Iterable[Expression]) -> set[Expression]:
    return {x for x in nodes if isinstance(x, Apply) and x.operation in FUNCTIONS}


def _reading(statement: Statement, array: Array, out: Array) -> Statement:
    """A statement that reads what it wants of an array where that is stored."""
    (wanted,) = set(_functions(statement.body.roots, array))
    (load,) = {x for x in ordered([wanted]) if isinstance(x, Load)}

    def change(node: Expression) -> Expression:
        return out[load.operands] if node == wanted else node

    body = with_roots(statement.body, rewritten(statement.body.roots, change, {}))
    return replace(statement, body=body)
