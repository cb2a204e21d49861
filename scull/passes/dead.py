"""Dead code: operators whose results nobody needs."""

from scull.ir.operator import effects
from scull.passes.graph import IrGraph
from scull.passes.node import IrNode, IrOpNode
from scull.passes.work import Pass, Work

EDGES = ("feed", "fetch", "fetch_v2")
STAYING = {
    "random": "it draws a number, and later draws would get another",
    "writes": "it writes",
    "python": "it calls Python",
    "communicates": "it communicates",
    "blocks": "it waits for others",
}


def without_dead(work: Work) -> None:
    """Drop what no fetch, no persistable variable and no effect needs."""
    for graph in work.graphs():
        live = needed(work, graph)
        dead = [n for n in graph.operators() if n not in live]
        for node in dead:
            work.fired(node, "nothing: no one reads it")
        graph.discard(dead)


def needed(work: Work, graph: IrGraph) -> set[IrOpNode]:
    """The operators that something needs."""
    waiting = [n for n in graph.operators() if is_wanted(work, graph, n)]
    live: set[IrOpNode] = set()
    while waiting:
        node = waiting.pop()
        if node in live:
            continue
        live.add(node)
        before: list[IrNode] = [*node.inputs]
        waiting += [maker for value in before for maker in value.inputs]
    return live


def is_wanted(work: Work, graph: IrGraph, node: IrOpNode) -> bool:
    """Whether an operator stays whoever reads it."""
    o = node.operator
    if node.name() in EDGES or o.op.has_blocks or o.is_target:
        return True
    acts = sorted(effects(o) & STAYING.keys())
    if acts:
        if not any(value.outputs or graph.kept(value) for value in node.outputs):
            work.stays(node, STAYING[acts[0]])
        return True
    ends = not work.asks and not any(value.outputs for value in node.outputs)
    return ends or any(graph.kept(value) is not None for value in node.outputs)


PASSES = (Pass("dead_code_elimination_pass", "what no one needs", without_dead),)
