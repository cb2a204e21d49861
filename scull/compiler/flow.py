"""Loops and branches of a region: a tree, whose straight pieces are statements.

Every array has one place in the tree where it is made. What changes from round to round has two
names: what a round begins with, and what it leaves for the next.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from scull.compiler.act import Act, Clear, Demand, Write
from scull.compiler.affine import Positions
from scull.compiler.arrange import arranged
from scull.compiler.divide import divided
from scull.compiler.foreseen import with_foreseen
from scull.compiler.fuse import fused, loads_of, work_of
from scull.compiler.lone import alone
from scull.compiler.pack import packed
from scull.compiler.pair import unwidened
from scull.compiler.phase import phased
from scull.compiler.separate import separated
from scull.compiler.settle import settled
from scull.compiler.sparse import unscattered
from scull.compiler.stage import nbytes
from scull.compiler.strip import stripped
from scull.compiler.trace import Statement
from scull.compiler.trim import trimmed
from scull.compiler.winograd import with_few_products
from scull.lang.body import Map, Scatter
from scull.lang.expression import Array, Load

Nodes = Sequence[Any]  # statements, then groups of them; loops, branches and demands among them


@dataclass(frozen=True)
class Carry:
    """A value that a loop hands on: `now` in a round and after the loop.

    It is `first` when the loop begins; `next`, made by a statement of the body, is that of the next
    round.
    """

    now: Array
    first: Array
    next: Array


@dataclass(frozen=True)
class Stack:
    """What each round of a loop keeps, in memory that grows: a row of `fields` each.

    `place` holds where the last rows lie, how many of them there are, and how many there are in
    all.
    """

    place: Array
    fields: tuple[Array, ...]


@dataclass(frozen=True)
class Loop:
    """Rounds of a body: as long as `condition` holds, `count` times, or one for each row kept.

    The arrays `kept` fill a row of the stack `keeps` in every round. Of the stack `undoes` a round
    has a row, the last first. Pairs of `reads` and `writes` are an array of the body and a larger
    one outside: of that it is the row with the number of the round, or of the last round minus it
    if the loop goes `backwards`.
    """

    origin: str
    carries: tuple[Carry, ...]
    body: tuple[Any, ...]
    condition: Array | None = None
    count: int = 0
    most: int = -1
    keeps: Stack | None = None
    kept: tuple[Array, ...] = ()
    undoes: Stack | None = None
    reads: tuple[tuple[Array, Array], ...] = ()
    writes: tuple[tuple[Array, Array], ...] = ()
    backwards: bool = False

    @property
    def asked(self) -> set[Array]:
        """What it takes from around it, besides what its body reads."""
        places = [] if self.undoes is None else [self.undoes.place]
        return {*(c.first for c in self.carries), *places, *(whole for _, whole in self.reads)}

    @property
    def varying(self) -> set[Array]:
        """What is another value in every round before anything is computed."""
        rows = () if self.undoes is None else self.undoes.fields
        return {*(c.now for c in self.carries), *rows, *(row for row, _ in self.reads)}

    @property
    def left(self) -> set[Array]:
        """What a round has to make."""
        return {*(c.next for c in self.carries), *self.kept, *(row for row, _ in self.writes)}

    @property
    def made(self) -> set[Array]:
        """What there is after it."""
        places = [] if self.keeps is None else [self.keeps.place]
        found = {*(c.now for c in self.carries), *places, *(whole for _, whole in self.writes)}
        return found | lists_in(self.body)

    @property
    def bodies(self) -> tuple[tuple[Any, ...], ...]:
        """Its one body."""
        return (self.body,)

    def with_bodies(self, bodies: Sequence[Nodes]) -> "Loop":
        """The same around other nodes."""
        return replace(self, body=tuple(bodies[0]))


@dataclass(frozen=True)
class Choice:
    """`out` is the one of two arrays that its branch leaves."""

    out: Array
    then: Array
    otherwise: Array


@dataclass(frozen=True)
class Branch:
    """One of two bodies."""

    origin: str
    condition: Array
    results: tuple[Choice, ...]
    then: tuple[Any, ...]
    otherwise: tuple[Any, ...] = ()

    @property
    def asked(self) -> set[Array]:
        """What it takes from around it, besides what its bodies read."""
        return {self.condition}

    @property
    def left(self) -> set[Array]:
        """What its bodies have to make."""
        return {x for c in self.results for x in (c.then, c.otherwise)}

    @property
    def made(self) -> set[Array]:
        """What there is after it."""
        return {c.out for c in self.results} | lists_in(self.then) | lists_in(self.otherwise)

    @property
    def bodies(self) -> tuple[tuple[Any, ...], ...]:
        """Both."""
        return (self.then, self.otherwise)

    def with_bodies(self, bodies: Sequence[Nodes]) -> "Branch":
        """The same around other nodes."""
        return replace(self, then=tuple(bodies[0]), otherwise=tuple(bodies[1]))


CONTROL = (Loop, Branch, Act)


def lists_in(nodes: Nodes) -> set[Array]:
    """The lists of tensors that change within nodes."""
    return {x.place for x in controls(nodes) if isinstance(x, Clear | Write)}


def parts(nodes: Nodes) -> Iterator[Any]:
    """Nodes in order: those that follow one another as lists, loops and branches alone."""
    straight: list[Any] = []
    for node in nodes:
        if not isinstance(node, CONTROL):
            straight.append(node)
            continue
        if straight:
            yield straight
        yield node
        straight = []
    if straight:
        yield straight


def leaves(nodes: Nodes) -> Iterator[Any]:
    """All statements or groups, in order."""
    for node in nodes:
        if isinstance(node, CONTROL):
            for body in node.bodies:
                yield from leaves(body)
        else:
            yield node


def far_rows(nodes: Nodes, large: int) -> Iterator[tuple[Any, list[Array]]]:
    """The groups of loops, each with what it reads of rows of arrays of `large` bytes or more."""
    for loop in controls(nodes):
        if isinstance(loop, Loop):
            rows = {row for row, whole in loop.reads if nbytes(whole) >= large}
            yield from ((x, [a for a in x.read if a in rows]) for x in leaves(loop.body))


def controls(nodes: Nodes) -> Iterator[Any]:
    """All loops, branches and demands, outer ones first."""
    for node in nodes:
        if isinstance(node, CONTROL):
            yield node
            for body in node.bodies:
                yield from controls(body)


def straightened(nodes: Nodes, change: Callable[[list[Any]], Iterable[Any]]) -> list[Any]:
    """The same tree with each straight piece changed."""
    found: list[Any] = []
    for part in parts(nodes):
        if isinstance(part, list):
            found += change(part)
        else:
            found.append(part.with_bodies([straightened(b, change) for b in part.bodies]))
    return found


def arrays_read(statement: Statement) -> set[Array]:
    """The arrays that a statement reads, that too whose elements it sets."""
    found = {load.array for load in loads_of(statement.body)}
    base = getattr(statement.body, "base", None)
    return found if base is None else {*found, base}


def crossing(nodes: Nodes) -> set[Array]:
    """The arrays that are read in another straight piece than where they are made."""
    found: set[Array] = set()
    for part in parts(nodes):
        if isinstance(part, list):
            found |= set().union(*map(arrays_read, part)) - {s.out for s in part}
        else:
            found |= part.asked | part.left
            for body in part.bodies:
                found |= crossing(body)
    return found


# ---- what need not be computed, or not in every round ----


def pruned(nodes: Nodes, wanted: set[Array]) -> list[Any]:
    """What is left when only `wanted` counts, to which is added what that reads."""
    found: list[Any] = []
    for node in reversed(nodes):
        if isinstance(node, Loop):
            node = _pruned_loop(node, wanted)
        elif isinstance(node, Branch):
            node = _pruned_branch(node, wanted)
        elif isinstance(node, Act):
            node = node if isinstance(node, Demand) or node.made & wanted else None
            wanted |= node.asked if node is not None else set()
        elif node.out in wanted:
            wanted |= arrays_read(node)
        else:
            node = None
        if node is not None:
            found.append(node)
    return found[::-1]


def _pruned_loop(loop: Loop, wanted: set[Array]) -> Loop | None:
    if not loop.made & wanted:
        return None
    keeps = loop.keeps if loop.keeps is not None and loop.keeps.place in wanted else None
    if keeps is None:
        loop = replace(loop, keeps=None, kept=())
    loop = replace(loop, writes=tuple(x for x in loop.writes if x[1] in wanted))
    asked = wanted | ({loop.condition} if loop.condition is not None else set())
    carries, count = tuple[Carry, ...](), -1
    body: list[Any] = []
    while len(asked) != count:  # what a round reads makes wanted what the one before leaves
        count = len(asked)
        carries = tuple(c for c in loop.carries if c.now in asked)
        asked |= replace(loop, carries=carries).left
        body = pruned(loop.body, asked)
    carries = tuple(c for c in loop.carries if c.now in asked)
    reads = tuple(pair for pair in loop.reads if pair[0] in asked)
    loop = replace(loop, carries=carries, body=tuple(body), reads=reads)
    wanted |= asked | loop.asked
    return loop


def _pruned_branch(branch: Branch, wanted: set[Array]) -> Branch | None:
    if not branch.made & wanted:
        return None
    results = tuple(c for c in branch.results if c.out in wanted)
    branch = replace(branch, results=results)
    wanted |= branch.asked | branch.left
    return branch.with_bodies([pruned(body, wanted) for body in branch.bodies])


def hoisted(nodes: Nodes) -> list[Any]:
    """The same with statements that are equal in all rounds of a loop before it."""
    found: list[Any] = []
    for node in nodes:
        if isinstance(node, CONTROL):
            node = node.with_bodies([hoisted(body) for body in node.bodies])
        if not isinstance(node, Loop):
            found.append(node)
            continue
        varying, staying = node.varying, []
        for inner in node.body:
            is_control = isinstance(inner, CONTROL)
            if is_control or inner.out in node.left or arrays_read(inner) & varying:
                varying |= inner.made if is_control else {inner.out}
                staying.append(inner)
            else:
                found.append(inner)
        found.append(replace(node, body=tuple(staying)))
    return found


# ---- from statements to fewer of them ----


def simplified(nodes: Nodes, outputs: Collection[Array]) -> list[Any]:
    """What `outputs` need, each straight piece fused."""
    nodes = hoisted(pruned(straightened(nodes, separated), set(outputs)))
    nodes = _fused(nodes, crossing(nodes) | set(outputs), {})
    return pruned(seen_through(nodes, copies_in(nodes)), set(outputs))


def copies_in(nodes: Nodes) -> dict[Array, Array]:
    """The arrays that are others element by element in memory, in perhaps another shape."""
    found: dict[Array, Array] = {}
    positions = Positions()
    for s in leaves(nodes):
        if not isinstance(s.body, Map) or not isinstance(s.body.value, Load):
            continue
        load = s.body.value
        same = load.array.size == s.out.size and load.dtype == s.out.dtype
        if same and positions.offset(load.array, load.operands) == positions.offset(
            s.out, s.body.axes
        ):
            found[s.out] = found.get(load.array, load.array)
    return found


def seen_through(nodes: Nodes, copies: Mapping[Array, Array]) -> list[Any]:
    """The same with loops and branches that take arrays where copies of them stood."""

    def of(array: Array) -> Array:
        return copies.get(array, array)

    found: list[Any] = []
    for node in nodes:
        if isinstance(node, CONTROL):
            node = node.with_bodies([seen_through(body, copies) for body in node.bodies])
        if isinstance(node, Branch):
            results = [Choice(c.out, of(c.then), of(c.otherwise)) for c in node.results]
            node = replace(node, condition=of(node.condition), results=tuple(results))
        elif isinstance(node, Loop):
            node = _direct(node, of)
        elif isinstance(node, Write):
            node = replace(node, x=of(node.x))
        found.append(node)
    return found


def _direct(loop: Loop, of: Callable[[Array], Array]) -> Loop:
    made = {node.out for node in loop.body if isinstance(node, Statement)}
    taken: set[Array] = set()
    carries = []
    for c in loop.carries:
        source = of(c.next)
        if source not in made or source in taken or source.shape != c.now.shape:
            source = c.next
        taken.add(source)
        carries.append(Carry(c.now, of(c.first), source))
    return replace(
        loop,
        carries=tuple(carries),
        kept=tuple(map(of, loop.kept)),
        reads=tuple((row, of(whole)) for row, whole in loop.reads),
        writes=tuple((of(row), whole) for row, whole in loop.writes),
    )


def _fused(nodes: Nodes, kept: set[Array], around: dict[Array, Map]) -> list[Any]:
    """Straight pieces fused; what only says where to read is written out in later ones, too."""
    found: list[Any] = []
    ready = dict(around)
    for part in parts(nodes):
        if isinstance(part, list):
            part = fused(unscattered(phased(alone(unwidened(part)))), kept, ready)
            part = divided(with_foreseen(part, kept))
            for s in part:
                if isinstance(s.body, Map) and not work_of(s.body.value, 0):
                    ready[s.out] = s.body
            found += part
        else:
            found.append(part.with_bodies([_fused(body, kept, ready) for body in part.bodies]))
    return found


def laid_out(nodes: Nodes, outputs: Collection[Array], fixed: Collection[Array] = ()) -> list[Any]:
    """The same with operands of contractions as their loops read them, once for all rounds.

    Arrays that are `fixed` have the same values in every run.
    """
    bodies = [s.body for s in leaves(nodes)]
    bases = {b.base for b in bodies if isinstance(b, Scatter) and b.base is not None}
    kept = crossing(nodes) | set(outputs) | bases

    def piece(part: Sequence[Statement]) -> list[Statement]:
        part = with_few_products(trimmed(arranged(stripped(part, kept), kept), kept))
        return settled(packed(part, fixed), kept)

    return hoisted(straightened(nodes, piece))
