"""What is stored in any case is read where it would be computed again of several arrays.

Producers stand in their consumers while nobody knows yet what will be in memory. The weights of
attention are a quotient of exponentials and their sum: once they are stored, for a product wants
them, gradients read them, and the exponentials need not leave their kernel.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from scull.compiler.affine import Positions
from scull.compiler.decision import decided
from scull.compiler.draw import draws
from scull.compiler.trace import Statement
from scull.lang.body import Map, with_roots
from scull.lang.expression import Apply, Array, Axis, Constant, Expression, Guard, Load, Reduce
from scull.lang.walk import ordered, rewritten

Key = tuple[str, ...]
WHY = "it is stored in any case"


def reread(statements: Sequence[Statement], positions: Positions) -> list[Statement]:
    """The statements, of which later ones read what earlier ones store."""
    known: dict[Key, list[tuple[Array, Map]]] = {}
    found = []
    for statement in statements:
        body = statement.body

        def change(node: Expression, reader: Array = statement.out) -> Expression:
            for array, made in known.get(key_of(node), ()):
                places = dict[Expression, Expression]()
                same = matches(made.value, node, frozenset(made.axes), places)
                if same and is_within(places, positions):
                    decided("read", array.name, reader.name, WHY)
                    return array[tuple(places[x] for x in made.axes)]
            return node

        if known:
            body = with_roots(body, rewritten(body.roots, change, {}))
        found.append(replace(statement, body=body))
        if isinstance(body, Map) and is_worth_reading(statement.out, body):
            known.setdefault(key_of(body.value), []).append((statement.out, body))
    return found


def is_worth_reading(out: Array, body: Map) -> bool:
    """Whether reading an array is less than reading all that it is computed of."""
    nodes = ordered([body.value])
    if body.value.free != frozenset(body.axes) or not isinstance(body.value, Apply):
        return False
    if any(isinstance(x, Reduce | Guard) or draws(x) for x in nodes):
        return False
    loads = [x for x in nodes if isinstance(x, Load)]
    return len(loads) > 1 and any(x.array.size >= out.size for x in loads)


def is_within(places: Mapping[Expression, Expression], positions: Positions) -> bool:
    """Whether each axis is somewhere that it has: what is stored may be part of what is read."""
    found = [(x, positions.range_of(positions.of(place))) for x, place in places.items()]
    return all(isinstance(x, Axis) and r.low >= 0 and r.high < x.size for x, r in found)


def key_of(node: Expression) -> Key:
    """What nodes that match have in common, where no axis stands for more than an axis.

    Nothing that is stored has the key of a load.
    """
    if not isinstance(node, Apply):
        return ()
    inner = (x for operand in node.operands for x in (operand, *_operands(operand)))
    return (node.operation, *map(_said, inner))


def _operands(node: Expression) -> tuple[Expression, ...]:
    return node.operands if isinstance(node, Apply) else ()


def _said(node: Expression) -> str:
    match node:
        case Load():
            return node.array.name
        case Apply():
            return node.operation
    return ""


def matches(
    pattern: Expression,
    node: Expression,
    axes: frozenset[Axis],
    places: dict[Expression, Expression],
) -> bool:
    """Whether a node is the pattern with its `axes` at some `places`, which are found."""
    if isinstance(pattern, Axis) and pattern in axes:
        return places.setdefault(pattern, node) is node
    if type(pattern) is not type(node) or pattern.dtype != node.dtype:
        return False
    match pattern, node:
        case Constant(value=x), Constant(value=y):
            return x == y and str(x) == str(y)
        case Load(array=x), Load(array=y):
            alike = x == y
        case Apply(operation=x), Apply(operation=y):
            alike = x == y
        case _:
            return pattern is node
    pairs = zip(pattern.operands, node.operands, strict=True)
    return alike and all(matches(a, b, axes, places) for a, b in pairs)
