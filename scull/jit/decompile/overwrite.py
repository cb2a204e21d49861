"""Values that a call writes over and somebody still needs: in the source it takes a copy of them.

A variable of a Program has values one after the other; in Python a tensor that is changed in place
may have other names, or be an input.
"""

from collections import Counter

from scull.core.meta import Kind
from scull.jit.decompile.condition import Test
from scull.passes.structure import (
    Branch,
    Call,
    Carried,
    Loop,
    Node,
    Region,
    Structure,
    Value,
    each,
    overwritten,
    regions_of,
)


def copied(structure: Structure, tests: dict[Loop, Test]) -> dict[Call, set[Value]]:
    """By call the values of which it takes copies, because it writes over them."""
    alive = Alive(structure, tests)
    owned = Owned(structure, alive.shared)
    found: dict[Call, set[Value]] = {}
    for call in structure.region.calls():
        for v in overwritten(call):
            kept = v.maker is None and v not in structure.entries
            if kept or v.meta.kind is not Kind.DENSE:
                continue
            if (call, v) in alive.found or not owned(v):
                found.setdefault(call, set()).add(v)
    return found


class Alive:
    """Notes which of the values that calls write over are needed behind them, and `shared` ones.

    These have two names once a branch or a loop hands them on: they are needed then, too.
    """

    def __init__(self, structure: Structure, tests: dict[Loop, Test]) -> None:
        self.tests, self.found, self.shared = tests, set[tuple[Call, Value]](), set[Value]()
        self.before(structure.region, set(structure.exits))

    def before(self, region: Region, alive: set[Value]) -> set[Value]:
        """The values needed before a region, from those needed behind it."""
        for node in reversed(region.nodes):
            alive = self.before_node(node, alive)
        return alive

    def before_node(self, node: Node, alive: set[Value]) -> set[Value]:
        """The same of one node."""
        if isinstance(node, Loop):
            return self.before_loop(node, alive)
        if isinstance(node, Call):
            self.found.update((node, v) for v in overwritten(node) if v in alive)
            return (alive - set(node.results())) | set(node.operands())
        outs, found = {r.out for r in node.results}, {node.condition}
        for i, side in enumerate(node.sides):
            ends = [v for r in node.results for v in each(r.sides[i])]
            found |= self.before(side, self.handing(ends, alive - outs))
        return found

    def handing(self, values: list[Value], alive: set[Value]) -> set[Value]:
        """What is needed where `values` are handed on and `alive` is needed behind that."""
        self.shared |= {v for v, n in Counter(values).items() if n > 1 or v in alive}
        return alive.union(values)

    def before_loop(self, node: Loop, alive: set[Value]) -> set[Value]:
        """The same of a loop: what a round reads from outside is needed behind each round."""
        test, heads = self.tests[node], {c.inside for c in node.carried}
        outs = {c.out: c.inside for c in node.carried}
        behind = {outs.get(v, v) for v in alive} | {test.value}
        stays = (behind | read([node.body, test.region], self.tests)) - made(node.body) - heads
        ends = self.handing([c.after for c in node.carried], stays)
        head = self.before(test.region, behind | self.before(node.body, ends))
        return self.handing([v for c in node.carried for v in each(c.before)], head - heads)


def read(regions: list[Region], tests: dict[Loop, Test]) -> set[Value]:
    """All values that are read somewhere in some regions, tests of loops included."""
    found, waiting = set[Value](), list(regions)
    while waiting:
        for node in waiting.pop().nodes:
            waiting.extend(regions_of(node))
            if isinstance(node, Call):
                found.update(node.operands())
            elif isinstance(node, Branch):
                found.add(node.condition)
                found.update(v for r in node.results for v in each(list(r.sides)))
            else:
                found.add(tests[node].value)
                found.update(v for c in node.carried for v in each([c.before, c.after]))
                waiting.append(tests[node].region)
    return found


def made(region: Region) -> set[Value]:
    """All values that are made somewhere in a region."""
    found, waiting = set[Value](), [region]
    while waiting:
        for node in waiting.pop().nodes:
            waiting.extend(regions_of(node))
            if isinstance(node, Call):
                found.update(node.results())
            elif isinstance(node, Branch):
                found.update(r.out for r in node.results)
            else:
                found.update(v for c in node.carried for v in (c.inside, c.out))
    return found


class Owned:
    """Tells whether a value has no other name in the source that is written."""

    def __init__(self, structure: Structure, shared: set[Value]) -> None:
        self.shared, self.handed = shared, set[Value]()
        self.asked: set[Value] = set()  # those of rounds: they hold if nothing speaks against it
        self.collect(structure.region)

    def collect(self, region: Region) -> None:
        """Note the values that branches and loops hand on."""
        for node in region.nodes:
            if isinstance(node, Branch):
                self.handed.update(v for r in node.results for v in each(list(r.sides)))
            elif isinstance(node, Loop):
                self.handed.update(v for c in node.carried for v in each([c.before, c.after]))
            for inner in regions_of(node):
                self.collect(inner)

    def __call__(self, value: Value) -> bool:
        """Whether `value` is the only name of its tensor."""
        self.asked.clear()
        return value not in self.handed and self.is_new(value)

    def is_new(self, value: Value) -> bool:
        """Whether all that `value` may be was made for it alone."""
        node = value.maker
        if value in self.asked:
            return True
        self.asked.add(value)
        if isinstance(node, Call):
            return not node.operator.op.views
        if isinstance(node, Loop):
            found = next(c for c in node.carried if value in (c.inside, c.out))
            return all(self.is_given(v, found) for v in each([found.before, found.after]))
        if isinstance(node, Branch):
            sides = next(r.sides for r in node.results if r.out is value)
            return all(self.is_given(v) for v in each(list(sides)))
        return False

    def is_given(self, value: Value, to: Carried | None = None) -> bool:
        """Whether nobody has `value` any more where it is handed on."""
        if to is not None and value is to.inside:
            return True
        return value not in self.shared and self.is_new(value)
