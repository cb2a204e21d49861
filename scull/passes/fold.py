"""Constant folding: what depends on nothing but constants is computed once."""

from typing import Any

import numpy as np

from scull.core.eager import SILENT
from scull.core.interpreter import interpreting
from scull.core.meta import Kind, count
from scull.core.op import as_outputs
from scull.core.tensor import Tensor
from scull.errors import ScullError
from scull.ir.operator import ForeignOp, Operator, each, effects
from scull.ir.variable import Variable
from scull.passes.graph import IrGraph
from scull.passes.node import IrOpNode, IrVarNode
from scull.passes.work import Pass, Work

SMALL = 1 << 20  # bytes: a constant that may become larger than what it is made of
WRITTEN = 1024  # elements: a constant that may stand in a Program as a list of numbers
LISTS = {
    "bool": "bool_values",
    "float32": "fp32_values",
    "float64": "fp64_values",
    "int32": "int32_values",
    "int64": "int64_values",
}
SOURCES = ("fill_constant", "assign_value")  # constants already


def folded(work: Work) -> None:
    """Compute what depends on constants alone; keep what others read of it."""
    for graph in work.graphs():
        fold(work, graph)


def fold(work: Work, graph: IrGraph) -> None:
    """Fold the operators of one block."""
    known: dict[IrVarNode, Any] = {}
    makers: set[IrOpNode] = set()
    for node in graph.operators():
        for value in node.inputs:
            if not value.inputs and value not in known:
                array = work.constant(graph, value)
                if array is not None:
                    known[value] = array
        if all(value in known for value in node.inputs):
            reason = unfit(graph, node)
            found = None if reason else computed(node, known)
            if found is not None:
                known.update(found)
                makers.add(node)
            elif reason and node.inputs:
                work.stays(node, reason)
    stand_in(work, graph, known, makers)


def unfit(graph: IrGraph, node: IrOpNode) -> str | None:
    """Why the results of an operator on constants are no constants."""
    o = node.operator
    if isinstance(o.op, ForeignOp) or o.op.has_blocks or o.told or not o.results():
        return "it is more than a function of its operands"
    if effects(o):
        return f"it {', '.join(sorted(effects(o)))}"
    if o.op.images and o.attrs.get("data_format") in ("NHWC", "NDHWC"):
        return "a plan turns its images first"
    for value in node.outputs:
        v = value.held
        if v.persistable or v in graph.elsewhere or v.kind is not Kind.DENSE:
            return f"`{v.name}` is no value of this block alone"
        changed = graph.changes(value)
        if changed or len(graph.values[v]) > 1:
            return changed or f"`{v.name}` is written twice"
    sizes = [nbytes(value.held) for value in node.outputs]
    given = sum(max(nbytes(value.held), 0) for value in node.inputs)
    if -1 in sizes or sum(sizes) > max(SMALL, given):
        return f"a constant of {sum(sizes)} bytes is larger than what makes it"
    return None


def nbytes(v: Variable) -> int:
    """The bytes of a value; -1 when they are not known."""
    size = count(v.shape)
    return -1 if size == -1 else int(size) * v.dtype.itemsize


def computed(node: IrOpNode, known: dict[IrVarNode, Any]) -> dict[IrVarNode, Any] | None:
    """The results of an operator, by its kernel; None where a run has to say why not."""
    o = node.operator

    def given(slot: Any) -> Any:
        if isinstance(slot, list):
            return [given(v) for v in slot]
        return None if slot is None else known[node.reading(slot)]

    try:
        with interpreting(SILENT):
            found = o.op.compute(*map(given, o.inputs), **o.attrs)
    except (ScullError, ArithmeticError, ValueError, TypeError):
        return None
    results: dict[IrVarNode, Any] = {}
    for slot, made in zip(o.outputs, as_outputs(o.op, found), strict=False):
        arrays = made if isinstance(made, list) else [made]
        for v, array in zip(each(slot), arrays, strict=False):
            array = array.array if isinstance(array, Tensor) else array
            if array is None or array.dtype != v.dtype.array or array.shape != v.shape:
                return None
            results[node.writing(v)] = np.array(array)
    complete = len(results) + len(o.outputs[len(o.op.outputs) :]) >= len(node.outputs)
    return results if complete else None


def stand_in(
    work: Work, graph: IrGraph, known: dict[IrVarNode, Any], makers: set[IrOpNode]
) -> None:
    """Let constants that others read stand in the scope, or in the block as numbers."""
    outer = graph.block.parent_idx < 0 and work.scope is not None
    for node in sorted(makers, key=lambda n: n.place, reverse=True):
        wanted = [v for v in node.outputs if needed(graph, v, makers)]
        if any(v not in known for v in wanted):
            work.stays(node, "the record of a shape is read")
            makers.discard(node)
        elif node.name() in SOURCES and not outer:
            if wanted:
                makers.discard(node)
        elif not outer and not all(is_short(v.held) for v in wanted):
            work.stays(node, "it is too long for a list of numbers")
            makers.discard(node)
    for node in sorted(makers, key=lambda n: n.place):
        wanted = [v for v in node.outputs if needed(graph, v, makers)]
        for value in wanted:
            keep(work, graph, node, value, known[value], outer)
        if wanted:
            work.fired(node, f"a constant, {wanted[0].held.meta}")
    graph.discard(makers)


def needed(graph: IrGraph, value: IrVarNode, makers: set[IrOpNode]) -> bool:
    """Whether more than the operators that go read a value."""
    return graph.private(value, makers) is not None


def is_short(v: Variable) -> bool:
    """Whether a value may be written as a list of numbers."""
    return v.dtype.name in LISTS and count(v.shape) <= WRITTEN


def keep(
    work: Work, graph: IrGraph, node: IrOpNode, value: IrVarNode, array: Any, outer: bool
) -> None:
    """Let a value be a constant: of the scope, or made of its numbers."""
    v = value.held
    value.clear_inputs()
    node.remove_output(value)
    if outer:
        assert work.scope is not None
        array.flags.writeable = False
        work.scope.var(v.name).value = array
        v.persistable = True
        return
    attrs = {"shape": v.shape, "dtype": v.dtype, LISTS[v.dtype.name]: array.reshape(-1).tolist()}
    made = graph.block.made("assign_value", {}, {"Out": [v]}, attrs)
    like(made, node.operator)
    graph.link_to(graph.node_of(made, (*node.place, 0)), value)


def like(made: Operator, o: Operator) -> None:
    """Let an operator stand for another: its role, its line."""
    made.role, made.role_var, made.namescope = o.role, o.role_var, o.namescope
    made.device, made.line = o.device, o.line


PASSES = (Pass("constant_folding_pass", "what depends on constants alone", folded),)
