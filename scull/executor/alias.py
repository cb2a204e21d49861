"""Which variables share memory: results that are views of an operand, results written over one.

Where an operator hands on what came to it as its rule likes, that shows only when it runs.
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from scull.ir.operator import Operator, each, program_outputs
from scull.ir.variable import Variable

Binding = tuple[Variable, int]  # a value of a variable: made by the operator at this place


def shared(operator: Operator) -> list[tuple[Variable, Variable, bool]]:
    """Pairs (result, what it lies in) that share memory, and whether the operator writes it."""
    op = operator.op
    if operator.over is not None:
        return [(operator.over, operator.over, True)]
    found: list[tuple[Variable, Variable, bool]] = []
    if not op.views and not op.in_place:
        return found
    outs = dict(zip(program_outputs(op), operator.outputs, strict=True))
    ins = dict(zip(op.inputs, operator.inputs, strict=True))
    for result, whole in op.views.items():
        found.extend(pairs(outs.get(result), ins.get(whole) or outs.get(whole), False))
    for result, operand in op.in_place.items():
        both = pairs(outs.get(result), ins.get(operand), True)
        if all(r is x for r, x, _ in both):
            found.extend(both)
    return found


def pairs(result: Any, operand: Any, writes: bool) -> list[tuple[Variable, Variable, bool]]:
    """Matching variables of two slots; every view of a list result is of the one operand."""
    if isinstance(result, Variable) and isinstance(operand, Variable):
        return [(result, operand, writes)]
    if isinstance(result, list) and isinstance(operand, Variable):
        return [(v, operand, writes) for v in result if v is not None]
    if isinstance(result, list) and isinstance(operand, list):
        return [(v, x, writes) for v, x in zip(result, operand, strict=False)]
    return []


def written(operator: Operator) -> set[Variable]:
    """The operands whose memory the operator overwrites."""
    if not operator.op.in_place and operator.over is None:
        return set()
    return {x for _, x, writes in shared(operator) if writes}


def handed_on(operator: Operator) -> list[tuple[Variable, Variable]]:
    """Pairs (result, operand) that may be one: of Python functions, blocks, rules of gradients."""
    op = operator.op
    hands_all = "python" in op.effects or op.has_blocks
    handing = op.inputs if hands_all else op.douts if op.forward is not None else ()
    if not handing:
        return []
    slots = dict(zip(op.inputs, operator.inputs, strict=True))
    given = [v for name in handing for v in each(slots[name])]
    return [(result, v) for result in operator.results() for v in given]


def shape_readers(operator: Operator) -> set[Variable]:
    """The operands of which the operator looks at the shape only."""
    op = operator.op
    if not op.shape_only:
        return set()
    shapes, values = set[Variable](), set[Variable]()
    for name, slot in zip(op.inputs, operator.inputs, strict=True):
        (shapes if name in op.shape_only else values).update(each(slot))
    return shapes - values


class Bindings:
    """Which value each variable has by turns, which of them lie in one another's memory."""

    def __init__(self, operators: tuple[Operator, ...], outside: Iterable[Variable]) -> None:
        self.current: dict[Variable, Binding] = {}
        self.last: dict[Binding, int] = {(v, -1): len(operators) for v in outside}
        self.links: dict[Binding, list[tuple[Binding, int | None]]] = {}
        self.overwritten: list[tuple[int, Binding]] = []
        self.uncertain: set[int] = set()  # operators whose results may be their operands
        for i, operator in enumerate(operators):
            self.read(i, operator)
            self.make(i, operator)

    def of(self, v: Variable) -> Binding:
        """The value `v` has now."""
        return self.current.setdefault(v, (v, -1))

    def read(self, i: int, operator: Operator) -> None:
        """Note what the operator at `i` reads and overwrites."""
        shapes = shape_readers(operator)
        for v in operator.operands():
            if v not in shapes:
                self.last[self.of(v)] = max(i, self.last.get(self.of(v), -1))
        self.overwritten.extend((i, self.of(v)) for v in written(operator))

    def make(self, i: int, operator: Operator) -> None:
        """Note the new values of the operator at `i`, and what they lie in."""
        over, own = written(operator), set(operator.results())
        before = {v: self.of(v) for v in operator.operands()}
        self.current.update({v: (v, i) for v in own - over})
        for result, whole, writes in shared(operator):
            if not writes and whole in own:
                self.link(self.of(result), self.of(whole), None)
            elif not writes:
                self.link(self.of(result), before[whole], i)
        for result, operand in handed_on(operator):
            self.uncertain.add(i)
            self.link(self.of(result), before[operand], i)
        if operator.op.has_blocks:  # its results may lie in one another
            self.uncertain.add(i)
            for a, b in pairwise(v for v in operator.results() if v not in over):
                self.link(self.of(a), self.of(b), i)

    def link(self, a: Binding, b: Binding, view: int | None) -> None:
        """`a` and `b` share memory unless the view at `view` is a copy."""
        self.links.setdefault(a, []).append((b, view))
        self.links.setdefault(b, []).append((a, view))

    def cut(self, start: Binding, at: int, copies: set[int]) -> None:
        """Add to `copies` the views that keep values apart from `start`, which `at` overwrites."""
        pending: list[tuple[Binding, int | None]] = [(start, None)]  # with the view next to `start`
        done = {start}
        while pending:
            found, nearest = pending.pop()
            if nearest is not None and self.last.get(found, -1) >= at:
                copies.add(nearest)
            for other, view in self.links.get(found, ()):
                if other in done or view in copies or (view is not None and view >= at):
                    continue
                if view is not None and view in self.uncertain:
                    copies.add(view)
                else:
                    done.add(other)
                    pending.append((other, view if nearest is None else nearest))


def lends(operator: Operator) -> bool:
    """Whether what goes to the scope may lie in the memory of an operand."""
    own = set(operator.results())
    pairs = ((r, x) for r, x, writes in shared(operator) if not writes and x not in own)
    return any(r.persistable and r is not x for r, x in (*pairs, *handed_on(operator)))


def copied_views(
    operators: tuple[Operator, ...],
    fetches: tuple[Variable, ...],
    feeds: tuple[Variable, ...] = (),
    *,
    again: bool = False,
) -> set[int]:
    """Places of operators whose results must have memory of their own.

    They would be views of memory that is overwritten and read. What is fed stays as it is: it is
    read after every run. `again`: they run perhaps more than once, as a loop does.
    """
    count = len(operators)
    row = operators * 2 if again else operators  # what holds for two rounds holds for all
    bindings, wanted = Bindings(row, feeds), set(fetches)
    for v, binding in bindings.current.items():
        if v.persistable or v in wanted:
            bindings.last[binding] = len(row)
    copies = {i for i, operator in enumerate(operators) if lends(operator)}
    for i, start in bindings.overwritten:
        bindings.cut(start, i, copies)
    return {i % count for i in copies}
