"""Patterns: calls of operators as a small graph, and where that is found in another."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import Any

from scull.core.attribute import normalised
from scull.core.interpreter import Interpreter, interpreting
from scull.core.meta import Meta
from scull.core.op import Op, as_tuple
from scull.core.operand import padded
from scull.core.tensor import Value
from scull.ir.operator import Operator
from scull.passes.isomorphism import filled_with
from scull.passes.node import IrOpNode, IrVarNode


class Part(Value):
    """A value of a pattern: an operand of anything, or a result of a call."""

    __slots__ = ("maker", "output")

    def __init__(self, maker: "Step | None" = None, output: int = 0) -> None:
        super().__init__(Meta(()))
        self.maker, self.output = maker, output


@dataclass(frozen=True)
class Hole:
    """An attribute of a pattern that may be anything; its value goes by this name."""

    name: str


@dataclass(eq=False)
class Step:
    """A call of an operator in a pattern."""

    op: Op
    inputs: tuple[Any, ...]
    attrs: dict[str, Any]


class Tracer(Interpreter):
    """Notes calls of operators; nothing is inferred or computed."""

    def apply(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        if op.inline:
            return op.body(*inputs, **attrs)
        known = {
            n: v if isinstance(v, Hole) else normalised(op.kinds[n], n, v) for n, v in attrs.items()
        }
        step = Step(op, padded(op, inputs), known)
        results = tuple(Part(step, i) for i in range(len(op.outputs)))
        return results if len(results) > 1 else results[0]


@dataclass(frozen=True)
class Pattern:
    """What is looked for: operands, attributes that may be anything, results."""

    operands: tuple[Part, ...]
    holes: tuple[str, ...]
    exits: tuple[Part, ...]

    @property
    def root(self) -> Step:
        """The call of the first result."""
        step = self.exits[0].maker
        assert step is not None, "a pattern is more than an operand"
        return step


def traced(function: Callable[..., Any]) -> Pattern:
    """The pattern a function describes: operands by position, holes by keyword."""
    parameters = inspect.signature(function).parameters.values()
    holes = tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)
    operands = tuple(Part() for p in parameters if p.kind is not p.KEYWORD_ONLY)
    with interpreting(Tracer()):
        found = function(*operands, **{n: Hole(n) for n in holes})
    return Pattern(operands, holes, as_tuple(found))


@dataclass(frozen=True)
class Match:
    """Where a pattern is found: the values of its parts and holes, the operators of its steps."""

    values: dict[Part, IrVarNode]
    attrs: dict[str, Any]
    nodes: dict[Step, IrOpNode]

    def joined(
        self, values: dict[Part, IrVarNode], attrs: dict[str, Any], nodes: dict[Step, IrOpNode]
    ) -> "Match":
        """The same and more."""
        return Match(self.values | values, self.attrs | attrs, self.nodes | nodes)


EMPTY = Match({}, {}, {})


def matches(pattern: Pattern, node: IrOpNode) -> Iterator[Match]:
    """The ways in which a pattern ends with the operator `node`."""
    for found in calls(pattern.root, node, EMPTY):
        complete = finished(pattern, found)
        if complete is not None:
            yield complete


def finished(pattern: Pattern, match: Match) -> Match | None:
    """A match with the values of all results; None where a result's call was not met."""
    for part in pattern.exits:
        node = match.nodes.get(part.maker) if part.maker is not None else None
        value = None if node is None else result(node, part.output)
        if value is None:
            return None
        match = match.joined({part: value}, {}, {})
    return match


def result(node: IrOpNode, output: int) -> IrVarNode | None:
    """The value of one output of an operator."""
    slot = node.operator.outputs[output]
    if isinstance(slot, list):
        slot = slot[0] if len(slot) == 1 else None
    return None if slot is None else node.writing(slot)


def calls(step: Step, node: IrOpNode, match: Match) -> Iterator[Match]:
    """The ways in which an operator is the call of a pattern, within what is matched so far."""
    o = node.operator
    if step in match.nodes:
        if match.nodes[step] is node:
            yield match
        return
    if o.op is not step.op or o.told or node in match.nodes.values():
        return
    attrs = bound(step, o, match.attrs)
    if attrs is None:
        return
    match = match.joined({}, attrs, {step: node})
    orders = [step.inputs]
    if step.op.commutes and o.attrs.get("axis", -1) == -1:
        orders = [tuple(order) for order in permutations(step.inputs)]
    for inputs in orders:
        yield from slots(tuple(zip(inputs, o.inputs, strict=True)), node, match)


def bound(step: Step, o: Operator, known: dict[str, Any]) -> dict[str, Any] | None:
    """The values of the holes of a call; None where its other attributes differ."""
    found: dict[str, Any] = {}
    for name, value in o.attrs.items():
        asked = step.attrs.get(name, step.op.attrs.get(name))
        if isinstance(asked, Hole):
            if found.get(asked.name, known.get(asked.name, value)) != value:
                return None
            found[asked.name] = value
        elif name in step.op.kinds and normalised(step.op.kinds[name], name, asked) != value:
            return None
    return found


def slots(pairs: tuple[tuple[Any, Any], ...], node: IrOpNode, match: Match) -> Iterator[Match]:
    """The ways in which operands of an operator are those of a call."""
    if not pairs:
        yield match
        return
    (part, slot), *rest = pairs
    if isinstance(part, list | tuple):
        if isinstance(slot, list) and len(slot) == len(part):
            yield from slots((*zip(part, slot, strict=True), *rest), node, match)
    elif part is None or slot is None:
        if part is None and not slot:
            yield from slots(tuple(rest), node, match)
    else:
        for found in operand(part, node.reading(slot), match):
            yield from slots(tuple(rest), node, found)


def operand(part: Any, value: IrVarNode, match: Match) -> Iterator[Match]:
    """The ways in which a value is an operand of a pattern."""
    if not isinstance(part, Part):
        if is_number(value, part):
            yield match
        return
    if part in match.values:
        if match.values[part] is value:
            yield match
        return
    if part.maker is None:
        yield match.joined({part: value}, {}, {})
        return
    maker = value.maker
    if maker is not None and result(maker, part.output) is value:
        yield from calls(part.maker, maker, match.joined({part: value}, {}, {}))


def is_number(value: IrVarNode, number: Any) -> bool:
    """Whether every element of a value is this number, as a constant says."""
    maker = value.maker
    if maker is None or maker.operator.type != "fill_constant" or maker.operator.operands():
        return False
    return bool(filled_with(maker.operator.attrs) == number)
