"""Which values share a name: those that a branch or a loop hands on, where no two are needed."""

from collections.abc import Iterable

from scull.core.meta import Kind
from scull.jit.decompile.choice import Chooser
from scull.jit.decompile.overwrite import made, read
from scull.passes.structure import Branch, Loop, Node, Region, Value


class Merging:
    """Joins values into classes; `leader` tells that of a value."""

    def __init__(self, chooser: Chooser, entries: Iterable[Value]) -> None:
        self.chooser, self.structure = chooser, chooser.structure
        self.parents: dict[Value, Value] = {}
        self.pairs: list[tuple[Value, Value]] = []  # what would well share a name
        self.collect(self.structure.region)
        self.tracked = {v for pair in self.pairs for v in pair}
        self.edges: dict[Value, set[Value]] = {v: set() for v in self.tracked}
        alive = self.before(self.structure.region, self.leaves(self.structure.exits))
        for entry in entries:
            self.divide(entry, alive | set(entries))
        for pair in self.pairs:
            self.join(*pair)
        self.words = {self.leader(v): word for v in self.tracked if (word := round_word(v))}

    def leader(self, value: Value) -> Value:
        """The value that stands for the class."""
        while value in self.parents:
            value = self.parents[value]
        return value

    def collect(self, region: Region) -> None:
        """Find the pairs; what is behind a loop is what was at the head of the last round."""
        for node in region.nodes:
            if isinstance(node, Branch):
                for r in node.results:
                    self.pairs += [(r.out, v) for v in r.sides if v is not None]
                for side in node.sides:
                    self.collect(side)
            elif isinstance(node, Loop):
                for c in node.carried:
                    self.parents[c.out] = c.inside
                    self.pairs.append((c.inside, c.after))
                    if c.before is not None:
                        self.pairs.append((c.inside, c.before))
                self.collect(node.body)
        self.pairs = [(a, b) for a, b in self.pairs if not self.is_fixed(b)]

    def is_fixed(self, value: Value) -> bool:
        """Whether a value has no name of its own: it is kept, or a list that is empty at first."""
        return value.maker is None and value not in self.structure.entries

    def leaves(self, values: Iterable[Value]) -> set[Value]:
        """The tracked values that stand in the expressions of `values`."""
        found: set[Value] = set()
        waiting = list(values)
        while waiting:
            value = waiting.pop()
            if value in self.chooser.inlined:
                waiting.extend(self.chooser.choices[value.maker].words.values())
            elif (own := self.at_head(value)) in self.tracked:
                found.add(own)
        return found

    def at_head(self, value: Value) -> Value:
        """The value at the head of a round for the one behind the loop; others as they are."""
        return self.parents.get(value, value)

    def divide(
        self, value: Value, others: Iterable[Value], but: Iterable[Value | None] = ()
    ) -> None:
        """Let `value` share no name with `others`."""
        if value in self.tracked:
            known = {value, *but}
            for other in others:
                if other in self.tracked and other not in known:
                    self.edges[value].add(other)
                    self.edges[other].add(value)

    def before(self, region: Region, alive: set[Value]) -> set[Value]:
        """The values needed before a region, from those needed behind it."""
        for node in reversed(region.nodes):
            alive = self.before_node(node, alive)
        return alive

    def before_node(self, node: Node, alive: set[Value]) -> set[Value]:
        """The same of one node."""
        if isinstance(node, Branch):
            return self.before_branch(node, alive)
        if isinstance(node, Loop):
            return self.before_loop(node, alive)
        choice = self.chooser.choices.get(node)
        if choice is None or any(v in self.chooser.inlined for v in node.results()):
            return alive
        made = {v for v in node.results() if v in self.tracked}
        for v in made:
            self.divide(v, alive | made)
        return (alive - made) | self.leaves(choice.words.values())

    def before_branch(self, node: Branch, alive: set[Value]) -> set[Value]:
        """The same of a branch."""
        outs = {r.out for r in node.results}
        found: set[Value] = set()
        for i, side in enumerate(node.sides):
            sources: set[Value] = set()
            for r in node.results:
                source = r.sides[i]
                self.divide(r.out, alive | outs, (source and self.at_head(source),))
                sources |= self.leaves([source] if source is not None else [])
            found |= self.before(side, (alive - outs) | sources)
        return found | self.leaves([node.condition])

    def before_loop(self, node: Loop, alive: set[Value]) -> set[Value]:
        """The same of a loop; what a round reads from outside is needed behind each round."""
        heads = {c.inside for c in node.carried}
        head = alive | heads | self.leaves([self.chooser.tests[node].value])
        head |= self.leaves(read([node.body], self.chooser.tests)) - made(node.body)
        for c in node.carried:
            for source in (c.before, c.after):
                self.divide(c.inside, head, (source and self.at_head(source),))
        self.before(node.body, (head - heads) | self.leaves(c.after for c in node.carried))
        return (head - heads) | self.leaves(c.before for c in node.carried if c.before)

    def join(self, a: Value, b: Value) -> None:
        """Let two values share a name, if nothing speaks against it."""
        a, b = self.leader(a), self.leader(b)
        if a is b or b in self.edges[a] or any(self.leader(v) is b for v in self.edges[a]):
            return
        if any(self.leader(v) is a for v in self.edges[b]):
            return
        self.parents[b] = a
        self.edges[a] |= self.edges[b]


def round_word(value: Value) -> str | None:
    """What a value that goes from round to round is called: a number, or a truth value."""
    if not isinstance(value.maker, Loop) or value.meta.kind is not Kind.DENSE:
        return None
    dtype = value.meta.dtype
    if dtype.name == "bool":
        return "going"
    one = all(n == 1 for n in map(int, value.meta.shape))
    return None if dtype.is_float or dtype.is_complex or not one else "step"
