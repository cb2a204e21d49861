"""Common sub-expressions: what is computed twice of the same values is computed once."""

from typing import Any

from scull.core.meta import Kind
from scull.ir.operator import ForeignOp, effects
from scull.passes.graph import IrGraph
from scull.passes.isomorphism import filled_with
from scull.passes.node import IrOpNode
from scull.passes.work import Pass, Work


def shared(work: Work) -> None:
    """Let later readers read what was computed first."""
    for graph in work.graphs():
        first: dict[Any, IrOpNode] = {}
        for node in graph.operators():
            key = key_of(node)
            if key is None:
                continue
            known = first.setdefault(key, node)
            if known is node:
                continue
            reason = hindrance(graph, known, node)
            if reason:
                work.stays(node, reason)
                continue
            pairs = list(zip(known.outputs, node.outputs, strict=True))
            for old, new in pairs:
                graph.move_readers(new, old)
            work.fired(node, ", ".join(f"`{old.name()}`" for old, _ in pairs))
            graph.discard([node])


def key_of(node: IrOpNode) -> Any:
    """What two operators share that compute the same; None of one that does more."""
    o = node.operator
    if isinstance(o.op, ForeignOp) or o.op.has_blocks or effects(o) or o.told or node.overwrites():
        return None
    if not o.results() or any(v.kind is not Kind.DENSE for v in o.results()):
        return None

    def one(slot: Any) -> Any:
        if isinstance(slot, list):
            return tuple(map(one, slot))
        return None if slot is None else node.reading(slot)

    def made(slot: Any) -> Any:
        return len(slot) if isinstance(slot, list) else slot is None

    attrs = tuple(sorted(texts(node).items()))
    return o.op, attrs, tuple(map(one, o.inputs)), tuple(map(made, o.outputs))


def texts(node: IrOpNode) -> dict[str, str]:
    """The attributes that say something of the results."""
    own = {n: v for n, v in node.operator.extra.items() if n != "op_callstack"}
    return {n: repr(v) for n, v in {**own, **meaning_of(node)}.items()}


def meaning_of(node: IrOpNode) -> dict[str, Any]:
    """The declared attributes of an operator; a constant by the number it fills in."""
    o = node.operator
    if o.type == "fill_constant" and not o.operands():
        unread = ("value", "str_value", "force_cpu", "place_type")
        found = {n: v for n, v in o.attrs.items() if n not in unread}
        return found | {"value": filled_with(o.attrs)}
    return o.attrs


def hindrance(graph: IrGraph, first: IrOpNode, second: IrOpNode) -> str | None:
    """Why the results of two operators have to be two."""
    for old, new in zip(first.outputs, second.outputs, strict=True):
        if old.held.meta != new.held.meta:
            return f"`{new.name()}` is {new.held.meta}, `{old.name()}` is {old.held.meta}"
        over = next((r for r in new.outputs if r.overwrites() is new.variable), None)
        if over is not None:
            return f"`{new.name()}` is written over by `{over.name()}`"
        reason = graph.kept(new) or graph.changes(old)
        if reason:
            return reason
    return None


PASSES = (
    Pass(
        "common_subexpression_elimination_pass",
        "what is computed twice of the same values is computed once",
        shared,
    ),
)
