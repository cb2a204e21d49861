"""What a kernel has to do: the bytes it moves at least, and its operations on floats."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from scull.compiler.affine import Positions
from scull.compiler.edge import edges_of
from scull.compiler.group import Group
from scull.compiler.inside import choice_of
from scull.compiler.stage import nbytes
from scull.lang.body import Scatter
from scull.lang.dtype import element
from scull.lang.expand import basic
from scull.lang.expression import Apply, Array, Axis, Expression, Load, Reduce
from scull.lang.walk import ordered, rewritten

FREE = {"select", "pick", "cast", "bitcast", "negative", "absolute"}  # no arithmetic


@dataclass(frozen=True)
class Cost:
    """Bytes read and written, each once, and operations on floats; `dtype` is the widest.

    Of the operations so many are in sums of products of pairs of bfloat16.
    """

    read: int
    written: int
    operations: int
    dtype: str = "float32"
    paired: int = 0


def cost_of(group: Group) -> Cost:
    """The cost of one run of a kernel.

    Functions count as the additions and multiplications they are made of. What does not vary with
    an axis counts once for all its positions.
    """
    operations, paired, wide = 0, 0, False
    for stage in group.stages:
        roots = [root for body in stage.bodies for root in body.roots]
        roots = rewritten(roots, basic, {})
        operations += operations_of(roots, group)
        paired += 4 * pairs_of(roots)
        wide = wide or any(node.dtype == "float64" for node in ordered(roots))
        for body in stage.bodies:
            if not isinstance(body, Scatter) or body.sets:
                continue
            if element(body.value.dtype).kind == "float":
                operations += prod(axis.size for axis in body.over)
    operations += paired // 2  # two multiplications and two additions were counted as one of each
    return Cost(*moved(group), operations, "float64" if wide else "float32", paired)


def pairs_of(roots: Sequence[Expression]) -> int:
    """How many products of pairs sums have; not those that are skipped."""
    total, shares = 0.0, _shares(roots)
    for node in ordered(roots):
        match node:
            case Reduce(operands=(Apply(operation="pair_dot"),)):
                times = prod(axis.size for axis in node.free | frozenset(node.axes))
                total += times * shares.get(node, 1)
    return round(total)


def moved(group: Group) -> tuple[int, int]:
    """The bytes a kernel reads, of an array all or what is read of it, and those it writes."""
    times: Counter[Array] = Counter()
    for load in {load for stage in group.stages for load in stage.loads}:
        times[load.array] += prod(axis.size for axis in load.free)
    read = sum(min(nbytes(x), times[x] * element(x.dtype).itemsize) for x in group.read)
    return read, sum(nbytes(array) for array in group.written)


def operations_of(roots: Sequence[Expression], group: Group) -> int:
    """The operations on floats of expressions in basic operations; not those that are skipped.

    What reads an array of a row varies with the rows.
    """
    rows, total = {array.name for array in group.local}, 0.0
    nodes, varying, shares = ordered(roots), set[Expression](), _shares(roots)
    for node in nodes:
        own = isinstance(node, Load) and node.array.name in rows
        if own or not varying.isdisjoint(node.operands):
            varying.add(node)
        times = node.free | frozenset(group.shared) if node in varying else node.free
        total += _operations(node, times) * shares.get(node, 1)
    return round(total)


def _shares(roots: Sequence[Expression]) -> dict[Expression, float]:
    """How often nodes are computed of the times there are, where terms or places are left out."""
    positions, found = Positions(), dict[Expression, float]()
    for node in ordered(roots):
        edges = edges_of(node, positions) if isinstance(node, Reduce) else None
        inside = choice_of(node, positions)
        parts = [(edges.share(), node)] if edges is not None else []
        parts += [(inside.share(), node.operands[1])] if inside is not None else []
        for share, part in parts:
            for each in ordered([part]):
                found[each] = found.get(each, 1.0) * share
    return found


def _operations(node: Expression, times: frozenset[Axis]) -> int:
    if element(node.dtype).kind != "float":
        return 0
    if isinstance(node, Reduce):
        return prod(axis.size for axis in times | set(node.axes))
    if not isinstance(node, Apply) or node.operation in FREE:
        return 0
    return prod(axis.size for axis in times) * (2 if node.operation == "multiply_add" else 1)
