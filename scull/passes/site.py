"""One place of a graph, where operators are replaced by others."""

from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from scull.core import session
from scull.core.interpreter import interpreting
from scull.core.op import as_tuple
from scull.ir.operator import Operator, each
from scull.ir.recorder import Recorder
from scull.ir.variable import Variable
from scull.ir.verify import agrees
from scull.passes.graph import IrGraph
from scull.passes.node import IrOpNode, IrVarNode


class Refused(Exception):
    """What was found stays as it is; the text says why."""


def require(condition: object, reason: str) -> None:
    """Leave what was found as it is, for this reason, unless the condition holds.

    Raises:
        Refused: it does not; who looked for it notes the reason.
    """
    if not condition:
        refuse(reason)


def refuse(reason: str) -> NoReturn:
    """Leave what was found as it is."""
    raise Refused(reason)


class Site:
    """Operators that are to be replaced, the values they begin with, and those they leave."""

    def __init__(
        self,
        graph: IrGraph,
        nodes: Iterable[IrOpNode],
        entries: Iterable[IrVarNode],
        exits: Iterable[IrVarNode],
    ) -> None:
        self.graph, self.nodes = graph, list(nodes)
        self.entries, self.exits = list(entries), list(exits)
        self.last = max(self.nodes, key=lambda n: n.place)
        self.given = {v.held: v for v in self.entries}
        self.moved: list[tuple[IrVarNode, IrOpNode]] = []  # readers of a shape alone
        self.made: list[Operator] = []

    def check(
        self,
        effects: frozenset[str] = frozenset(),
        *,
        shapes: bool = False,
        overwrites: bool = False,
    ) -> None:
        """Refuse where somebody needs an inner value, or where not all can be made in one place.

        What operators do besides their results is refused but for `effects`, and that they write
        over what they read unless it `overwrites`. With `shapes` all inner values have the shape
        of the first exit, which serves readers of a shape alone.
        """
        inside, last = set(self.nodes), self.last.place
        for node in inside:
            acts = node.operator.op.effects - effects
            require(not acts, f"`{node.name()}` {', '.join(sorted(acts))}")
            over = None if overwrites else node.overwrites()
            require(over is None, f"`{node.name()}` writes over `{over and over.name}`")
            for value in node.outputs:
                if value not in self.exits:
                    self.check_inner(value, inside, shapes)
        for value in self.exits:
            early = [r.name() for r in value.outputs if r not in inside and r.place < last]
            require(not early, f"`{value.name()}` is read by {', '.join(early)} in between")
        for value in self.entries:
            changed = self.graph.changes(value, last)
            require(changed is None, f"{changed} in between")
        alone = len(self.given) == len(set(self.entries))
        require(alone, "it reads two values of one variable")

    def check_inner(self, value: IrVarNode, inside: set[IrOpNode], shapes: bool) -> None:
        """Refuse where more than the operators inside need an inner value."""
        like = [] if not shapes else [r for r in value.outputs if self.serves(value, r, inside)]
        reason = self.graph.private(value, inside.union(like))
        require(reason is None, str(reason))
        self.moved += [(value, reader) for reader in like]

    def serves(self, value: IrVarNode, reader: IrOpNode, inside: set[IrOpNode]) -> bool:
        """Whether the first exit serves a reader as well, which looks at the shape alone."""
        later = reader not in inside and reader.place > self.last.place
        return later and only_shape(reader.operator, value.held)

    def replace(self, make: Callable[[], Any]) -> list[IrOpNode]:
        """Put in the operators that `make` calls, for its results; what may be looked at anew."""
        results, self.made = recorded(self.graph, self.last.operator, make)
        try:
            for value, result in zip(self.exits, results, strict=True):
                self.compare(value, result)
        except Refused:
            for o in self.made:
                for v in o.results():
                    self.graph.block.vars.pop(v.name, None)
            raise
        for value, reader in self.moved:
            self.graph.update_input_link(value, self.exits[0], reader)
        readers = [r for value in self.exits for r in value.outputs]
        made = self.insert(dict(zip(results, self.exits, strict=True)))
        return [*made, *readers]

    def compare(self, value: IrVarNode, result: Variable) -> None:
        """Refuse a result that is not what it stands for, or cannot take its place."""
        v = value.held
        require(agrees(v.meta, result.meta), f"`{v.name}` is {v.meta}, not {result.meta}")
        if any(result in set(o.results()) for o in self.made):
            return
        require(v.meta == result.meta, f"`{v.name}` is {v.meta}, not {result.meta} for certain")
        for reason in (self.graph.kept(value), self.graph.changes(self.given[result])):
            require(reason is None, str(reason))
        over = [r.name() for r in value.outputs if r.overwrites() is v]
        require(not over, f"`{v.name}` is written over by {', '.join(over)}")

    def insert(self, stands_for: dict[Variable, IrVarNode]) -> list[IrOpNode]:
        """The new operators in place of those that were found."""
        graph, values = self.graph, dict(self.given)
        own = {v for o in self.made for v in o.results()}
        for result, value in stands_for.items():
            if result in own:  # the value stays; another operator makes it
                for maker in value.inputs:
                    maker.remove_output(value)
                value.clear_inputs()
            else:
                graph.move_readers(value, self.given[result])
        made = []
        for i, o in enumerate(self.made):
            node = graph.node_of(o, (*self.last.place, i))
            for v in dict.fromkeys(o.operands()):
                graph.link_to(values.get(v) or graph.value(v), node)
            for v in dict.fromkeys(o.results()):
                values[v] = stands_for[v] if v in stands_for else graph.version(v)
                graph.link_to(node, values[v])
            o.role_var = tuple(dict.fromkeys(r for n in self.nodes for r in n.operator.role_var))
            made.append(node)
        graph.discard(self.nodes)
        for result, value in stands_for.items():
            if result in own:
                rename(graph, self.made, result, value.held)
        return made

    def told(self) -> str:
        """What took the place."""
        return ", ".join(f"`{o.type}`" for o in self.made) or "what it is made of"


def only_shape(o: Operator, v: Variable) -> bool:
    """Whether an operator looks at the shape of one of its operands alone."""
    slots = zip(o.op.inputs, o.inputs, strict=True)
    names = {name for name, slot in slots if any(x is v for x in each(slot))}
    return bool(names) and names <= o.op.shape_only and not o.told


def rename(graph: IrGraph, made: list[Operator], old: Variable, new: Variable) -> None:
    """Let new operators write and read a variable that there was before."""
    if old is new:  # written in place
        return
    for o in made:
        o.replace(old, new, inputs=True, outputs=True)
    graph.block.vars.pop(old.name, None)


def recorded(
    graph: IrGraph, like: Operator, make: Callable[[], Any]
) -> tuple[tuple[Variable, ...], list[Operator]]:
    """What `make` returns, and the operators it calls, which are for what `like` was."""
    block = graph.block
    before = len(block.ops)
    try:
        with interpreting(Recorder(block)), session.guarded(names=graph.names):
            results = as_tuple(make())
    finally:
        made = block.ops[before:]
        del block.ops[before:]
    for o in made:
        o.role, o.role_var = like.role, like.role_var
        o.namescope, o.device, o.line = like.namescope, like.device, like.line
    return results, made
