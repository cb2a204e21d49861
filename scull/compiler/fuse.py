"""Producers written into their consumers, so that what lies between never reaches memory.

A value is computed where it is used if that computes it no more often than before, or if it is so
little work that reading it would cost more. Reductions go into what follows them element by
element, never into another reduction.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import copysign, prod

from scull.compiler.affine import Positions
from scull.compiler.decision import decided
from scull.compiler.draw import draws
from scull.compiler.simplify import simplified, substituted
from scull.compiler.stored import reread
from scull.compiler.trace import Statement
from scull.lang.body import Body, Map, Scatter, with_roots
from scull.lang.expression import (
    Apply,
    Array,
    Axis,
    Constant,
    Expression,
    Guard,
    Load,
    Reduce,
)
from scull.lang.operation import RANDOM
from scull.lang.walk import ordered, rewritten

LANES = 16  # that an axis should fill
DEEP, SHORT = 64, 32  # terms of a sum that are many; elements of a row that are few
LITTLE = 4  # operations and reads that cost less than reading their result again
SEARCH = 8  # operations that cost as much as finding out where to read
COST = {"divide": 4, "sqrt": 6, "rsqrt": 8, "floor_divide": 8, "remainder": 8}
BRANCH = 3  # operations that asking where to read costs
FUNCTIONS = (
    *("exp", "expm1", "log", "log1p", "tanh", "erf", "normal_cdf", "sin", "cos", "power"),
    *RANDOM,
)


def fused(
    statements: Sequence[Statement],
    outputs: Iterable[Array],
    around: Mapping[Array, Map] | None = None,
) -> list[Statement]:
    """The statements that are left when producers stand in their consumers.

    Those `around` come from elsewhere.
    """
    kept, positions = set(outputs), Positions()
    uses = Counter(array for s in statements for array in {load.array for load in loads_of(s.body)})
    shared = sharing_words(statements)
    ready: dict[Array, Map] = dict(around or {})
    found: list[Statement] = []
    for statement in statements:
        body = inlined(statement, ready, uses, shared, positions)
        found.append(replace(statement, body=body))
        if isinstance(body, Map):
            if statement.out in kept:
                uses[statement.out] += 1
            ready[statement.out] = body
    left = needed(reread(needed(found, kept), positions), kept)
    for each in left:
        if each.out in ready:
            why = "a result of the region" if each.out in kept else "read by others, too"
            decided("stored", each.out.name, "", why)
    return left


def needed(statements: Sequence[Statement], outputs: set[Array]) -> list[Statement]:
    """The statements whose results are read, or are outputs."""
    wanted, found = set(outputs), []
    for statement in reversed(statements):
        if statement.out in wanted:
            found.append(statement)
            wanted.update(load.array for load in loads_of(statement.body))
    return found[::-1]


def loads_of(body: Body) -> list[Load]:
    """What a body reads; of an array in which it sets places, these."""
    nodes = ordered(body.roots)
    if isinstance(body, Scatter) and body.base is not None:
        nodes.append(body.base[body.index])
    return [node for node in nodes if isinstance(node, Load)]


def inlined(
    statement: Statement,
    ready: dict[Array, Map],
    uses: Counter[Array],
    shared: Collection[Array],
    positions: Positions,
) -> Body:
    """A body with what it reads written out where that pays."""
    body = _from_zeros(statement.body, ready)
    deep = _deep(body.roots)
    while True:
        sites = sites_of(body)
        chosen: dict[Load, Map] = {}
        for load in sites:
            if load.array not in ready or load.array == getattr(body, "base", None):
                continue
            why = apart(load.array, ready[load.array], body, shared)
            pays = not why
            if pays:
                pays, why = verdict(load, sites, ready[load.array], uses, body)
                if pays and _takes_lanes(load, ready[load.array], body, positions):
                    pays, why = False, "a reduction, of which no axis is one of lanes there"
                if not pays and says_where(load, ready[load.array], positions):
                    pays, why = True, "nothing is computed: it says where to read"
            if pays and _deep(ready[load.array].roots):
                pays, why = not deep, "another long sum is there, whose tiles differ" * deep or why
                deep = True
            if pays:
                chosen[load] = ready[load.array]
            decided("inlined" if pays else "read", load.array.name, statement.out.name, why)
        change = partial(_written_out, chosen=chosen, positions=positions)
        roots = rewritten(body.roots, change, {})
        body = with_roots(body, roots)
        if not chosen:
            return body


def _from_zeros(body: Body, ready: Mapping[Array, Map]) -> Body:
    """A body; one that adds to an array of zeros as one that begins with none."""
    if not isinstance(body, Scatter) or body.sets or body.base is None:
        return body
    match ready.get(body.base):
        case Map(value=Constant(value=x)) if x == 0 and copysign(1, x) > 0:
            return replace(body, base=None)
    return body


def _written_out(node: Expression, chosen: dict[Load, Map], positions: Positions) -> Expression:
    if isinstance(node, Load):
        # operands of a node are rewritten before it: it is found by its array and what they were
        for load, producer in chosen.items():
            if node.array is load.array or node.array == load.array:
                pairs = dict(zip(producer.axes, node.operands, strict=True))
                return substituted(producer.value, pairs, positions)
    return simplified(node, positions)


def sites_of(body: Body) -> dict[Load, tuple[int, bool]]:
    """Each load of a body: how often it is run, and whether within a reduction."""
    axes = body.axes if isinstance(body, Map) else body.over
    found: dict[Load, tuple[int, bool]] = {}
    for load, times, reduce in reads_of(body.roots, prod(axis.size for axis in axes)):
        most, inside = found.get(load, (0, False))
        found[load] = (max(most, times), inside or reduce is not None)
    return found


def reads_of(roots: Iterable[Expression], around: int) -> list[tuple[Load, int, Reduce | None]]:
    """Loads with how often they are run, and the innermost reduction they are in."""
    found = []
    pending: list[tuple[Expression, int, Reduce | None]] = [(x, around, None) for x in roots]
    seen: set[tuple[Expression, int]] = set()
    while pending:
        node, times, within = pending.pop()
        if (node, times) in seen:
            continue
        seen.add((node, times))
        if isinstance(node, Load):
            found.append((node, times, within))
        if isinstance(node, Reduce):
            times, within = times * prod(axis.size for axis in node.axes), node
        pending.extend((x, times, within) for x in node.operands)
    return found


def verdict(
    load: Load,
    sites: dict[Load, tuple[int, bool]],
    producer: Map,
    uses: Counter[Array],
    body: Body,
) -> tuple[bool, str]:
    """Whether a producer is to be computed where it is read, and why."""
    times, within = sites[load]
    readers, work = uses[load.array], work_of(producer.value)
    beside = _beside(producer)
    little = work + beside <= LITTLE
    if work == 0:
        return True, "nothing is computed: it says where to read"
    if isinstance(body, Scatter):
        pays = readers == 1 and little
        return pays, f"{counted(work, 'operation')} before an addition, {often(readers, False)}"
    again = times > load.array.size
    once = readers == 1 and not again
    places = sum(other.array == load.array for other in sites)
    if _reduces(producer):
        if once and within:
            return False, "a reduction, which a reduction reads"
        if _shortens(load, producer, body):
            return False, "a long reduction, read in rows that are short for lanes"
        pays = once and places == 1
        return pays, f"a reduction, {often(readers, again, places)}"
    if once and places == 1:
        return True, "read once"
    pays = little and (once or not (within and again))
    amount = counted(work, "operation")
    if work <= LITTLE < work + beside:
        amount += f" on {beside + 1} vectors"
    return pays, f"{amount}{' alone' if little else ''}, {often(readers, again, places)}"


def _beside(producer: Map) -> int:
    """How many vectors a producer reads, besides the one that would hold its result."""
    along = producer.axes[-1:]
    reads = (x for x in ordered([producer.value]) if isinstance(x, Load))
    return max(0, sum(not x.free.isdisjoint(along) for x in reads) - 1)


def _deep(roots: Iterable[Expression]) -> bool:
    """Whether expressions have a sum of many terms."""
    sums = (x for x in ordered(roots) if isinstance(x, Reduce) and x.operation == "sum")
    return any(prod(axis.size for axis in x.axes) >= DEEP for x in sums)


def says_where(load: Load, producer: Map, positions: Positions) -> bool:
    """Whether a producer that asks where to read has its answer from where a load reads."""
    if work_of(producer.value, 0):
        return False
    pairs = dict(zip(producer.axes, load.operands, strict=True))
    return not work_of(substituted(producer.value, pairs, positions))


def _shortens(load: Load, producer: Map, body: Body) -> bool:
    """Whether a reduction would have rows too short for lanes where it is read, and has longer."""
    if isinstance(body, Scatter) or not (body.axes and producer.axes):
        return False
    terms = [x for x in ordered([producer.value]) if isinstance(x, Reduce)]
    deep = max(prod(axis.size for axis in x.axes) for x in terms) >= DEEP
    plain = all(isinstance(x, Axis | Constant) for x in load.operands)
    return deep and not plain and body.axes[-1].size < SHORT <= producer.axes[-1].size


def _takes_lanes(load: Load, producer: Map, body: Body, positions: Positions) -> bool:
    """Whether all axes that lanes of a reduction may run along are taken apart where it is read."""
    if isinstance(body, Scatter) or not _reduces(producer):
        return False
    sizes = [x.size for x in producer.axes]
    if prod(x.size for x in body.axes) < prod(sizes):
        return False
    places = [positions.of(x) for x in load.operands]
    divided = {x for p in places for n in p.terms if not isinstance(n, Axis) for x in n.free}
    steps = [pair for p in places for pair in p.terms.items()]
    left = [x.size for x, k in steps if isinstance(x, Axis) and k == 1 and x not in divided]
    return 2 * max(left, default=1) < min(max(sizes, default=1), LANES)


def _reduces(body: Body) -> bool:
    return any(isinstance(node, Reduce) for node in ordered(body.roots))


def apart(array: Array, producer: Map, body: Body, shared: Collection[Array]) -> str:
    """Why a producer may not be computed where it is read, as far as random words are concerned."""
    if array in shared:
        return "others want its random words, too"
    drawing = ((producer, body), (body, producer))
    if any(words_of([one]) and _reduces(other) for one, other in drawing):
        return "random words are made beside no sum, which might want them many times"
    return ""


def sharing_words(statements: Sequence[Statement]) -> set[Array]:
    """The arrays of which others want the same random words."""
    each = {s.out: words_of([s.body]) for s in statements}
    taken = Counter(word for words in each.values() for word in words)
    return {out for out, words in each.items() if any(taken[word] > 1 for word in words)}


def words_of(bodies: Iterable[Body]) -> set[Expression]:
    """The random words that bodies take."""
    return {node for node in ordered(root for b in bodies for root in b.roots) if draws(node)}


def counted(number: int, word: str) -> str:
    """How many of something."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def often(readers: int, again: bool, places: int = 1) -> str:
    """How often each element of something is wanted."""
    if readers > 1:
        return f"wanted {readers} times"
    if again:
        return "each element read several times"
    return "read once" if places == 1 else f"read at {places} places"


def searches(load: Load) -> bool:
    """Whether where it reads has to be read first."""
    places = (place for place in load.operands if place.operands)
    return any(isinstance(x, Load) for place in places for x in ordered([place]))


def work_of(root: Expression, branch: int = BRANCH) -> int:
    """How many operations one element takes, besides finding where it is by counting."""
    total, seen, pending = 0, set(), [root]
    while pending:
        node = pending.pop()
        if node in seen or isinstance(node, (Load, Constant, Axis)):
            total += SEARCH * (isinstance(node, Load) and searches(node))
            continue
        seen.add(node)
        if isinstance(node, Reduce):
            total += prod(axis.size for axis in node.axes) * max(1, work_of(node.operands[0]))
            continue
        if isinstance(node, Apply):
            name = node.operation
            total += 20 if name in FUNCTIONS else COST.get(name, 1)
        if isinstance(node, Guard):
            total += branch
        pending.extend(node.operands[1:] if isinstance(node, Guard) else node.operands)
    return total
