"""Where the values of loops and branches lie: which arrays share the memory of which.

A carried value is written over itself where nothing reads it any more; else it has two places,
which change roles from round to round. What a round keeps is written where it is kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from scull.compiler.act import Act, Clear, Hand
from scull.compiler.flow import (
    Branch,
    Carry,
    Loop,
    Nodes,
    controls,
    leaves,
)
from scull.compiler.group import Group
from scull.compiler.kernel import NOTE, arrays_of
from scull.lang.body import Scatter
from scull.lang.expression import Array


@dataclass
class Homes:
    """By carried value its one or two places; by array those in whose memory it may lie.

    What is `placed` lies in a row of a stack, or of a larger array, where a round makes it.
    """

    places: dict[Array, tuple[Array, ...]] = field(default_factory=dict)
    behind: dict[Array, tuple[Array, ...]] = field(default_factory=dict)
    placed: set[Array] = field(default_factory=set)


def homes_of(nodes: Nodes) -> Homes:
    """The homes of all that loops and branches hand on."""
    homes = Homes()
    for node in controls(nodes):
        if isinstance(node, Branch):
            homes.behind |= {c.out: (c.then, c.otherwise) for c in node.results}
        elif isinstance(node, Loop):
            _add_loop(node, homes)
        elif isinstance(node, Clear):
            homes.behind[node.place] = ()
    return homes


def _add_loop(loop: Loop, homes: Homes) -> None:
    made = {x for g in loop.body if isinstance(g, Group) for x in g.written}
    homes.behind |= {row: (whole,) for row, whole in loop.reads}
    if loop.undoes is not None:
        homes.behind |= dict.fromkeys(loop.undoes.fields, ())
    rows = [*loop.writes, *((array, None) for array in loop.kept)]
    for array, whole in rows:
        if array in made and array not in homes.placed:
            homes.behind[array] = () if whole is None else (whole,)
            homes.placed.add(array)
    for c in loop.carries:
        if c.next in homes.placed:  # the next round finds it there
            homes.places[c.now] = ()
            homes.behind[c.now] = (c.first, *homes.behind[c.next])
            continue
        many = 1 if stays(loop, c) else 2
        found = tuple(Array(f"{c.now.name}.{n}", c.now.shape, c.now.dtype) for n in range(many))
        homes.places[c.now] = found
        homes.behind[c.now] = found if many == 1 else (*found, c.first)
        homes.behind[c.next] = found


def lying_in(homes: Homes, array: Array) -> set[Array]:
    """The arrays in whose memory one may lie, itself too."""
    found, rest = set[Array](), [array]
    while rest:
        found.add(rest[-1])
        rest += [x for x in homes.behind.get(rest.pop(), ()) if x not in found]
    return found


def stays(loop: Loop, carry: Carry) -> bool:
    """Whether the next value may be written over the present one."""
    if any(carry.now in node.asked | node.left for node in controls(loop.body)):
        return False
    if any(carry.now in (c.first, c.next) for c in loop.carries):
        return False
    return written_over(loop.body, carry.next, carry.now)


def written_over(nodes: Nodes, new: Array, old: Array) -> bool:
    """Whether `new` may be written where `old` lies: each element is read before, or never."""
    groups = list(leaves(nodes))
    writer = next(n for n, g in enumerate(groups) if new in g.written)
    if any(old in g.read for g in groups[writer + 1 :]):
        return False
    return in_turn(groups[writer], new, old)


def in_turn(group: Group, new: Array, old: Array) -> bool:
    """Whether a group reads each element of `old` before it writes that of `new`, or never."""
    for stage in group.stages:
        loads = [load for load in stage.loads if load.array == old]
        if loads and new not in stage.arrays:
            return False
        body = stage.bodies[stage.arrays.index(new)] if loads else None
        places = body.index if isinstance(body, Scatter) else stage.axes
        if any(load.operands != places for load in loads):
            return False
    return True


def late_ones(nodes: Nodes, over: Mapping[Array, Array]) -> tuple[Array, ...]:
    """The results of a region that may not lie over their operands as soon as they are made.

    Nor may those after which the run may still end early: then nothing is updated.
    """
    last = {x: n for n, group in enumerate(leaves(nodes)) for x in group.read}
    makers = {x: (n, group) for n, group in enumerate(leaves(nodes)) for x in group.written}
    asked: set[Array] = set().union(*(node.asked | node.left for node in controls(nodes)))
    places = {x: n for n, g in enumerate(nodes) if isinstance(g, Group) for x in g.written}
    end = max((n for n, node in enumerate(nodes) if may_end([node])), default=-1)

    def is_late(new: Array, old: Array) -> bool:
        number, group = makers[new]
        if old in asked or places[new] < end or last.get(old, -1) > number:
            return True
        return not in_turn(group, new, old)

    return tuple(new for new, old in over.items() if is_late(new, old))


def may_end(nodes: Nodes) -> bool:
    """Whether a run may end within: at an index out of range, or for want of memory."""
    for node in controls(nodes):
        if isinstance(node, Act) and not isinstance(node, Hand):
            return True
        if isinstance(node, Loop) and (node.keeps or node.most >= 0):
            return True
    return any(NOTE in arrays_of(group) for group in leaves(nodes))
