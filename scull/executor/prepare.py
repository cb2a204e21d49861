"""The first step of planning: which operators run, what is fed, what is fetched."""

from dataclasses import dataclass
from typing import Any

from scull.deferred import load
from scull.errors import FeedError, FetchError
from scull.executor.closed import closed
from scull.ir.lacking import check_declared
from scull.ir.operator import Operator
from scull.ir.variable import Variable
from scull.ir.verify_dataflow import is_dataflow


@dataclass(frozen=True)
class Prepared:
    """The operators of one run in program order, and the variables at its edges."""

    operators: tuple[Operator, ...]
    feeds: tuple[Variable, ...]
    fetches: tuple[Variable, ...]

    def __str__(self) -> str:
        edges = {"feed": self.feeds, "fetch": self.fetches}
        before, after = (f"{n}  {', '.join(v.name for v in vs)}" for n, vs in edges.items())
        rows = [f"{i:>4}  {call_text(o)}" for i, o in enumerate(self.operators)]
        return "\n".join([before, *rows, after])


def call_text(o: Operator) -> str:
    """What an operator fills, its type and what it reads."""
    results, operands = (", ".join(v.name for v in vs) for vs in (o.results(), o.operands()))
    return f"{results} = {o.type}({operands})"


def prepare(block: Any, feed_names: tuple[str, ...], fetch_names: tuple[str, ...]) -> Prepared:
    """Check the edges and drop operators that feed and fetch."""
    operators = tuple(o for o in block.ops if o.type not in ("feed", "fetch", "fetch_v2"))
    check_declared(block)
    feeds = tuple(v for v in (block.find(n) for n in feed_names) if v is not None)
    fetches = tuple(fetched(block, n) for n in fetch_names)
    if is_dataflow(operators):
        operators = load("scull.executor.dataflow", "gathered")(operators, fetches)
    else:
        operators = closed(operators, feeds, fetches)
    missing_feeds(block, operators, set(feeds))
    return Prepared(operators, feeds, fetches)


def fetched(block: Any, name: str) -> Variable:
    """The variable to fetch."""
    found: Variable | None = block.find(name)
    if found is None:
        raise FetchError(f"the Program has no variable `{name}` to fetch")
    return found


def missing_feeds(block: Any, operators: tuple[Operator, ...], fed: set[Variable]) -> None:
    """Refuse a run in which a declared input is read and not fed."""
    written = set(fed)
    for o in operators:
        for v in o.operands():
            if v.is_data and v not in written and not v.persistable:
                raise FeedError(
                    f"the input `{v.name}` ({v.meta}) was not fed; `{o.type}` at "
                    f"{o.line or 'a loaded file'} reads it. Pass feed={{'{v.name}': ...}}"
                )
        written.update(o.results())
