"""Rewrites: operators that are found in a graph and replaced by others, or left with a reason."""

from collections import deque
from collections.abc import Iterable
from functools import partial
from typing import Any

from scull.errors import ProgramError
from scull.passes.graph import IrGraph
from scull.passes.node import IrOpNode
from scull.passes.pattern import Pattern, matches, traced
from scull.passes.site import Refused, Site, require
from scull.passes.work import Event, Pass, Work, told

__all__ = ["Refused", "Rewrite", "apply", "require", "rewriting"]

MOST_ROUNDS = 50  # in which each operator of a graph may be replaced by another


class Rewrite:
    """A local change of a graph: what is looked for, under which condition, what takes its place.

    The methods call operators. The parameters of `pattern` by position are operands, those by
    keyword are attributes that may be anything; `when` and `replace` are given what was found of
    both: Variables, and values of attributes.

    Examples:
        >>> import scull as paddle
        >>> from scull.ops.elementwise import add
        >>> from scull.ops.linear import matmul
        >>> from scull.passes.graph import IrGraph
        >>> from scull.passes.rewrite import Rewrite, require
        >>> class Twice(Rewrite):
        ...     def pattern(self, x, w):
        ...         product = matmul(x, w)
        ...         return add(product, product)
        ...     def when(self, x, w):
        ...         require(w.persistable, f"`{w.name}` is no weight")
        ...     def replace(self, x, w):
        ...         return matmul(x, w)
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [2, 2])
        ...     y = paddle.matmul(x, x)
        ...     z = y + y
        >>> [str(event) for event in Twice().apply(IrGraph(main))]
        ['`elementwise_add` (tmp_0) stays: `x` is no weight']
        >>> paddle.disable_static()
    """

    effects: frozenset[str] = frozenset()  # what matched operators may do besides their results
    keeps_shape = False  # whether all inner values have the shape of the first result

    def pattern(self, *values: Any, **attributes: Any) -> Any:
        """The operators that are looked for: a result, or several."""
        raise NotImplementedError

    def when(self, *values: Any, **attributes: Any) -> None:
        """Refuse, by `require`, what is found and must stay."""

    def replace(self, *values: Any, **attributes: Any) -> Any:
        """What takes the place of the results of the pattern."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """What it is called in reasons."""
        return type(self).__name__

    def apply(self, graph: IrGraph) -> list[Event]:
        """Rewrite what is found in `graph`, until nothing more is; what happened where."""
        return apply([self], graph)


def apply(rewrites: Iterable[Rewrite], graph: IrGraph) -> list[Event]:
    """Rewrite what any of several rewrites finds, until nothing more is found."""
    starts: dict[Any, list[tuple[Rewrite, Pattern]]] = {}
    for rewrite in rewrites:
        pattern = traced(rewrite.pattern)
        starts.setdefault(pattern.root.op, []).append((rewrite, pattern))
    events: dict[tuple[Any, IrOpNode | None], Event] = {}
    waiting = deque(graph.operators())
    most = MOST_ROUNDS * len(waiting)
    for number, node in enumerate(served(waiting)):
        if number > most + MOST_ROUNDS:
            raise ProgramError(f"rewrites of `{node.name()}` go on for ever")
        for rewrite, pattern in starts.get(node.operator.op, ()):
            if node in graph.nodes:
                made = tried(rewrite, pattern, node, graph, events)
                waiting.extend(n for n in made if n in graph.nodes)
    return list(events.values())


def rewriting(name: str, meaning: str, *rewrites: Rewrite, exact: bool = True) -> Pass:
    """The pass that rewrites whatever some rewrites find in any block."""

    def run(work: Work) -> None:
        for graph in work.graphs():
            work.note(apply(rewrites, graph))

    return Pass(name, meaning, run, exact)


def served(waiting: deque[IrOpNode]) -> Iterable[IrOpNode]:
    """What waits, until nothing does."""
    while waiting:
        yield waiting.popleft()


def tried(
    rewrite: Rewrite,
    pattern: Pattern,
    node: IrOpNode,
    graph: IrGraph,
    events: dict[tuple[Any, IrOpNode | None], Event],
) -> list[IrOpNode]:
    """Apply a rewrite where its pattern ends at `node`; the operators to look at again."""
    where = told(node)
    for match in matches(pattern, node):
        site = Site(
            graph,
            match.nodes.values(),
            [value for part, value in match.values.items() if part.maker is None],
            [match.values[part] for part in pattern.exits],
        )
        operands = [match.values[part].held for part in pattern.operands]
        try:
            site.check(rewrite.effects, shapes=rewrite.keeps_shape)
            rewrite.when(*operands, **match.attrs)
            again = site.replace(partial(rewrite.replace, *operands, **match.attrs))
        except Refused as reason:
            events[rewrite, node] = Event(where, str(reason), False)
            continue
        events.pop((rewrite, node), None)
        events[site, None] = Event(where, site.told(), True)
        return again
    return []
