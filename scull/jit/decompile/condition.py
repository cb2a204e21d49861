"""What a loop asks before each round, found again as one expression."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from scull.passes.isomorphism import meaning, place_of, same
from scull.passes.structure import (
    Branch,
    Call,
    Carried,
    Loop,
    Region,
    Slot,
    Structure,
    Value,
    each,
    regions_of,
)


class Test(NamedTuple):
    """The calls that compute a condition at the head of a round, and the condition."""

    region: Region
    value: Value


def loops_in(region: Region) -> Iterator[Loop]:
    """Every loop, the outer ones first."""
    for node in region.nodes:
        if isinstance(node, Loop):
            yield node
        for inner in regions_of(node):
            yield from loops_in(inner)


def tests_of(structure: Structure) -> dict[Loop, Test]:
    """The test of each loop; its calls before the loop and at the end of a round are taken out.

    Where these two do not compute the same, the condition goes from round to round as a value.
    """
    used = uses_of(structure, {})
    found = {}
    for loop in loops_in(structure.region):
        found[loop] = Matching(structure, loop, used).test() or handed_on(loop)
    return found


def handed_on(loop: Loop) -> Test:
    """The test of a loop whose condition is a value that goes from round to round."""
    inside, out = Value(loop.first.variable, loop), Value(loop.first.variable, loop)
    loop.carried.append(Carried(loop.first, inside, loop.last, out))
    return Test(Region(loop), inside)


class Matching:
    """Compares what the condition of a loop is before it and after a round."""

    def __init__(self, structure: Structure, loop: Loop, used: Counter[Value]) -> None:
        self.structure, self.loop, self.used = structure, loop, used
        self.region = Region(loop)
        self.gone: list[Call] = []

    def test(self) -> Test | None:
        """The test, if the two are alike."""
        value = self.matched(self.loop.first, self.loop.last)
        if value is None:
            return None
        gone = set(self.gone)
        for region in (self.loop.region, self.loop.body):
            region.nodes = [node for node in region.nodes if node not in gone]
        return Test(self.region, value)

    def matched(self, before: Value, after: Value) -> Value | None:
        """The value at the head of a round that is `before` at first and `after` later."""
        for c in self.loop.carried:
            if c.before is before and c.after is after:
                return c.inside
        if before is after:
            return before
        a, b = before.maker, after.maker
        if not (isinstance(a, Call) and isinstance(b, Call)) or not self.alike(a, b):
            return None
        if place_of(before) != place_of(after):
            return None
        inputs = tuple(self.slot(s, t) for s, t in zip(a.inputs, b.inputs, strict=True))
        told = {n: self.slot(s, b.told[n]) for n, s in a.told.items()}
        if any(s is False for s in (*inputs, *told.values())):
            return None
        made = Call(b.operator, inputs, (), told, self.region)
        twins = {v: Value(v.variable, made) for v in b.results()}
        made.outputs = tuple(
            [v and twins[v] for v in s] if isinstance(s, list) else s and twins[s]
            for s in b.outputs
        )
        self.region.nodes.append(made)
        self.gone += [a, b]
        return twins[after]

    def slot(self, s: Slot, t: Slot) -> Any:
        """What stands in one slot at the head of a round; False where the two differ."""
        ours, theirs = each(s), each(t)
        found = [self.matched(x, y) for x, y in zip(ours, theirs, strict=False)]
        if len(ours) != len(theirs) or None in found or isinstance(s, list) != isinstance(t, list):
            return False
        return found if isinstance(s, list) else (found[0] if found else None)

    def alike(self, a: Call, b: Call) -> bool:
        """Whether one call computes before the loop what the other does in a round."""
        if a.type != b.type or a.region is not self.loop.region or b.region is not self.loop.body:
            return False
        if self.structure.is_ordered(a) or a.told.keys() != b.told.keys():
            return False
        ours, theirs = meaning(a), meaning(b)
        alone = all(sum(self.used[v] for v in c.results()) == 1 for c in (a, b))
        return alone and all(same(ours[n], theirs.get(n)) for n in ours)


def uses_of(structure: Structure, tests: dict[Loop, Test]) -> Counter[Value]:
    """How often each value is read."""
    found = Counter(structure.exits)

    def count(region: Region) -> None:
        for node in region.nodes:
            if isinstance(node, Call):
                found.update(node.operands())
            elif isinstance(node, Branch):
                found[node.condition] += 1
                found.update(v for r in node.results for v in r.sides if v is not None)
            else:
                found.update(v for c in node.carried for v in (c.before, c.after) if v is not None)
                count_test(node)
            for inner in regions_of(node):
                count(inner)

    def count_test(loop: Loop) -> None:
        if loop in tests:
            count(tests[loop].region)
            found[tests[loop].value] += 1
        else:
            found.update((loop.first, loop.last))

    count(structure.region)
    return found
