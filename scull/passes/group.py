"""Updates of parameters grouped: those of one kind are one operator for all of them."""

from collections.abc import Iterable
from typing import Any

from scull.core.meta import Kind
from scull.passes.fold import like
from scull.passes.graph import IrGraph
from scull.passes.node import IrOpNode
from scull.passes.site import Refused, require
from scull.passes.work import Pass, Work

# For one parameter and for many: the slots, and attributes that have an entry for each.
MERGED: dict[str, tuple[str, tuple[str, ...]]] = {
    "adam": ("merged_adam", ()),
    "momentum": ("merged_momentum", ("regularization_method", "regularization_coeff")),
}
ALONE = {  # what Programs have no operator of many for
    "adamw": "there is no `merged_adamw`",
    "sgd": "there is no `merged_sgd`",
    "lamb": "its norms are of one parameter each",
}
UNREAD = ("lazy_mode", "min_row_size_to_use_multithread")  # of whole gradients


def grouped(work: Work) -> None:
    """Let updates that differ in nothing but their operands be one operator."""
    for graph in work.graphs():
        groups: dict[Any, list[IrOpNode]] = {}
        for node in graph.operators():
            if node.name() in ALONE:
                work.stays(node, ALONE[node.name()])
            elif node.name() in MERGED:
                try:
                    groups.setdefault(kind_of(node), []).append(node)
                except Refused as reason:
                    work.stays(node, str(reason))
        for nodes in groups.values():
            merge(work, graph, nodes)


def kind_of(node: IrOpNode) -> Any:
    """What updates share that may be one operator."""
    o = node.operator
    type, own = MERGED[node.name()]
    given = dict(zip(o.op.inputs, o.inputs, strict=True))
    require(not o.told, "a tensor gives an attribute")
    require(given["grad"].kind is Kind.DENSE, "the gradient is row-sparse")
    slots = merged_slots(node)
    more = [n for n, slot in given.items() if slot is not None and o.op.slot(n) not in slots]
    require(not more, f"`{type}` takes no {', '.join(more)}")
    rest = {n: v for n, v in o.attrs.items() if n not in (*own, *UNREAD)}
    return type, tuple(sorted(slots)), tuple(sorted(rest.items())), given["param"].dtype, o.role


def merged_slots(node: IrOpNode) -> set[str]:
    """The slots of the operator for many that this one fills."""
    o = node.operator
    found = {
        o.op.slot(n) for n, slot in zip(o.op.inputs, o.inputs, strict=True) if slot is not None
    }
    return found - {"SkipUpdate", "Beta1Tensor", "Beta2Tensor", "EpsilonTensor"}


def merge(work: Work, graph: IrGraph, nodes: list[IrOpNode]) -> None:
    """Make one operator of updates, at the place of the last."""
    last = nodes[-1]
    apart = []
    for node in nodes[:-1]:
        reason = hindrance(graph, node, last)
        if reason is not None:
            work.stays(node, reason)
            apart.append(node)
    nodes = [n for n in nodes if n not in apart]
    if len(nodes) < 2:
        if not apart:
            work.stays(last, "it is the only one of its kind")
        return
    type, own = MERGED[last.name()]
    o = last.operator
    inputs = joined(n.operator.input_slots() for n in nodes)
    outputs = joined(n.operator.output_slots() for n in nodes)
    spelt = o.spelt()
    attrs = {n: spelt[o.op.attribute(n)] for n in o.op.kinds if n not in (*own, *UNREAD)}
    attrs |= {n: [m.operator.attrs[n] for m in nodes] for n in own}
    made = graph.block.made(type, inputs, outputs, attrs)
    like(made, o)
    made.role_var = tuple(dict.fromkeys(name for n in nodes for name in n.operator.role_var))
    merged = graph.node_of(made, last.place)
    for value in dict.fromkeys(v for n in nodes for v in n.inputs):
        graph.link_to(value, merged)
    for value in [v for n in nodes for v in n.outputs]:
        for maker in value.inputs:
            maker.remove_output(value)
        value.clear_inputs()
        graph.link_to(merged, value)
    for node in nodes:
        work.fired(node, f"`{type}` of {len(nodes)}")
    graph.discard(nodes)


def joined(slots: Iterable[dict[str, list[str]]]) -> dict[str, list[str]]:
    """The names in each slot, of one operator after the other."""
    found: dict[str, list[str]] = {}
    for each in slots:
        for slot, names in each.items():
            if names:
                found.setdefault(slot, []).extend(names)
    return found


def hindrance(graph: IrGraph, node: IrOpNode, last: IrOpNode) -> str | None:
    """Why an update cannot come as late as the last of its kind."""
    for value in node.outputs:
        early = [r.name() for r in value.outputs if r.place < last.place]
        if early:
            return f"`{value.name()}` is read by `{early[0]}` before the last update"
    for value in node.inputs:
        if value.variable in {v.variable for v in node.outputs}:
            continue
        changed = graph.changes(value, last.place)
        if changed:
            return f"{changed} before the last update"
    return None


PASSES = (Pass("fuse_all_optimizer_ops_pass", "updates of one kind are one for all", grouped),)
