"""Structures without what nobody needs, and without values that are others by another name."""

from typing import Any

from scull.passes.structure import (
    Branch,
    Call,
    Loop,
    Node,
    Region,
    Structure,
    Value,
    overwritten,
    regions_of,
    writes,
)

ACTING = frozenset({"python", "writes", "communicates"})


class Instead:
    """Values that are others by another name: the same on both sides, or in every round."""

    def __init__(self) -> None:
        self.values: dict[Value, Value] = {}

    def __call__(self, value: Any) -> Any:
        """What stands for a value, or for those of a slot."""
        if isinstance(value, list):
            return [self(v) for v in value]
        while value in self.values:
            value = self.values[value]
        return value

    def note(self, value: Value, other: Value | None) -> bool:
        """Let `other` stand for `value`; whether that is news."""
        value = self(value)
        if other is None or value is other:
            return False
        self.values[value] = other
        return True


def simplify(structure: Structure) -> None:
    """Let values stand for themselves that branches and loops hand on unchanged."""
    instead, regions = Instead(), [structure.region]
    for region in regions:
        regions.extend(inner for node in region.nodes for inner in regions_of(node))
    nodes = [node for region in regions for node in region.nodes]
    without_copies(nodes, instead)
    while any([unchanged(node, instead) for node in nodes]):
        pass
    if not instead.values:
        return
    for node in nodes:
        if isinstance(node, Call):
            node.inputs = tuple(map(instead, node.inputs))
            node.told = {n: instead(v) for n, v in node.told.items()}
        elif isinstance(node, Branch):
            node.condition = instead(node.condition)
            for r in node.results:
                r.sides = instead(r.sides)
        else:
            node.first, node.last = instead(node.first), instead(node.last)
            for c in node.carried:
                c.before, c.after = instead(c.before), instead(c.after)
    structure.exits = instead(structure.exits)


def without_copies(nodes: list[Node], instead: Instead) -> None:
    """Let values stand for their copies where one of the two is written over.

    That is what they were copied for: a structure has values, which nothing writes over.
    """
    calls = [node for node in nodes if isinstance(node, Call)]
    over = {v for call in calls for v in overwritten(call)}
    for call in calls:
        pair = [*call.operands(), *call.results()]
        copies = call.type == "assign" and len(pair) == 2 and not writes(call)
        if copies and over.intersection(pair):
            instead.note(pair[1], pair[0])


def unchanged(node: Node, instead: Instead) -> bool:
    """Note the values that `node` hands on unchanged; whether there are new ones."""
    found = False
    if isinstance(node, Branch):
        for r in node.results:
            one, other = instead(r.sides)
            if one is other and instead(r.out) is r.out:
                found |= instead.note(r.out, one)
    elif isinstance(node, Loop):
        for c in node.carried:
            before, after = instead(c.before), instead(c.after)
            if after in (before, c.inside) and instead(c.inside) is c.inside:
                found |= instead.note(c.inside, before)
                instead.note(c.out, before)
    return found


def prune(structure: Structure) -> None:
    """Leave out what neither a result nor an action needs."""
    live: set[Any] = set()
    waiting: list[Value] = list(structure.exits)

    def need(node: Node) -> None:
        if node in live:
            return
        live.add(node)
        if isinstance(node, Call):
            waiting.extend(node.operands())
        elif isinstance(node, Branch):
            waiting.append(node.condition)
        else:
            waiting.extend((node.first, node.last))
        if node.region.owner is not None:
            need(node.region.owner)

    for call in structure.region.calls():
        if call.operator.op.effects & ACTING or writes(call):
            need(call)
    while waiting:
        value = waiting.pop()
        if value.maker is None or value in live:
            continue
        live.add(value)
        need(value.maker)
        for other in behind(value):
            if other is not None:
                waiting.append(other)
    leave_out(structure.region, live)


def behind(value: Value) -> list[Value | None]:
    """The values that a result of a branch or of a loop stands for."""
    made = value.maker
    if isinstance(made, Branch):
        return next(r.sides for r in made.results if r.out is value)
    if isinstance(made, Loop):
        found = next(c for c in made.carried if value in (c.inside, c.out))
        return [found.before, found.inside, found.after]
    return []


def leave_out(region: Region, live: set[Any]) -> None:
    """Leave out of a region what is not live."""
    region.nodes = [node for node in region.nodes if node in live]
    for node in region.nodes:
        if isinstance(node, Branch):
            node.results = [r for r in node.results if r.out in live]
        elif isinstance(node, Loop):
            node.carried = [c for c in node.carried if c.inside in live or c.out in live]
        for inner in regions_of(node):
            leave_out(inner, live)
