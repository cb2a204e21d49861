"""A Program while passes change it, and what they say of that."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from scull.core.meta import Kind
from scull.ir.block import Block
from scull.ir.clone import copied
from scull.ir.program import Program
from scull.ir.variable import Variable
from scull.ir.verify_dataflow import is_dataflow
from scull.passes.graph import IrGraph
from scull.passes.node import IrOpNode, IrVarNode
from scull.passes.use import Uses, uses_of
from scull.runtime.scope import Scope


class Event(NamedTuple):
    """What a pass did at an operator, or why it did nothing."""

    where: str  # the operator and its result
    what: str
    fired: bool

    def __str__(self) -> str:
        return f"{self.where} {'becomes' if self.fired else 'stays:'} {self.what}"


class Work:
    """A copy of a Program that changes.

    `feeds` are given at every run, `fetches` are asked for: names. With a `scope` the persistable
    variables that no operator writes are constants, with the values they have there; new ones are
    put into it.
    """

    def __init__(
        self,
        program: Program,
        feeds: Iterable[str] = (),
        fetches: Iterable[str] = (),
        scope: Scope | None = None,
    ) -> None:
        self.program = copied(program)
        self.feeds, self.fetches, self.scope = frozenset(feeds), tuple(fetches), scope
        self.events: list[Event] = []
        self.known: dict[Block, IrGraph] = {}
        self.uses = Uses()

    @property
    def asks(self) -> bool:
        """Whether it is known which values are asked for; else it is those that nothing reads."""
        block = self.program.global_block()
        return bool(self.fetches) or any(o.type in ("fetch", "fetch_v2") for o in block.ops)

    def graphs(self) -> Iterator[IrGraph]:
        """The graphs of all blocks whose order means something."""
        for block in self.program.blocks:
            if not is_dataflow(block.ops):
                yield self.graph(block)

    def graph(self, block: Block) -> IrGraph:
        """The graph of a block."""
        if block not in self.known:
            if not self.known:
                self.uses = uses_of(self.program)
            names = (*self.fetches, *self.feeds)
            self.known[block] = IrGraph(block, fetched=names, uses=self.uses)
        return self.known[block]

    def note(self, events: Iterable[Event]) -> None:
        """Remember what happened."""
        self.events.extend(events)

    def fired(self, node: IrOpNode, what: str) -> None:
        """Remember what an operator becomes."""
        self.events.append(Event(told(node), what, True))

    def stays(self, node: IrOpNode, why: str) -> None:
        """Remember why an operator stays."""
        self.events.append(Event(told(node), why, False))

    def constant(self, graph: IrGraph, value: IrVarNode) -> Any:
        """The array of a parameter that nothing writes; None of any other value."""
        v = value.held
        lasts = v.persistable and v.kind is Kind.DENSE and not graph.is_changed(value)
        cell = self.scope.find_var(v.name) if self.scope is not None and lasts else None
        return None if cell is None else cell.value

    def hold(self, graph: IrGraph, like: Variable, array: Any) -> Variable:
        """A new persistable variable with this value in the scope."""
        assert self.scope is not None
        name = graph.names(like.name)
        meta = like.meta.with_shape(array.shape)
        array.flags.writeable = False
        self.scope.var(name).value = array
        block: Block = graph.block.program.global_block()
        return block.variable(name, meta, persistable=True)

    def settle(self) -> Program:
        """The Program as it is now."""
        for graph in self.known.values():
            graph.settle()
        self.known.clear()
        return self.program


def told(node: IrOpNode) -> str:
    """An operator as reasons name it."""
    made = node.operator.results()
    return f"`{node.name()}`" + (f" ({made[0].name})" if made else "")


@dataclass(frozen=True)
class Pass:
    """A named change of a Program."""

    name: str
    meaning: str
    run: Callable[[Work], None]
    exact: bool = True  # whether results keep their bits

    def __str__(self) -> str:
        return f"{self.name}: {self.meaning}"
