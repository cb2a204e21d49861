"""A plan as text, and as a picture in the language of Graphviz."""

from collections.abc import Callable, Iterable
from typing import Any

from scull.core.meta import Kind, count
from scull.executor.instruction import Instruction
from scull.ir.operator import Operator
from scull.ir.verify_dataflow import Path, paths_of

COLOURS = {"RAW": "black", "WAR": "blue", "WAW": "red", "effect": "purple", "order": "gray"}


def plan_text(plan: Any) -> str:
    """What runs, what waits for what, and when values go; on a device its streams and events."""
    lines = [*step_lines(plan), *edge_lines(plan), *lifetime_lines(plan)]
    return "\n".join(lines if plan.place.is_cpu_place() else [*lines, str(plan.streams)])


def step_lines(plan: Any) -> list[str]:
    """Steps with what they read, fill and drop; instructions have numbers."""

    listed = lister(plan)
    size = len(plan.variables) - 2
    draws = "draws in order" if plan.draws < 0 else f"{plan.draws} draws"
    lines = [f"plan: {len(plan.instructions)} instructions, {size} variables, {draws}"]
    if plan.early:
        lines.append("  order  updates right after what they wait for")
    lines.append(f"  peak   {plan.peak}")
    lines.append(f"  feed   {listed(s for _, s, _ in plan.feeds)}")
    lines.append(f"  load   {listed(s for _, s in plan.loads)}")
    lines += run_lines(plan)
    lines.append(f"  store  {listed(s for _, s in plan.stores)}")
    lines.append(f"  fetch  {listed(s for s, _ in plan.fetches)}")
    return lines


def lister(plan: Any) -> Callable[[Iterable[int]], str]:
    """A function that gives the names of slots, in a row."""
    return lambda slots: ", ".join(plan.names[s] for s in slots)


def run_lines(plan: Any) -> list[str]:
    """The steps in order; below an operator with blocks what a run of its block does, below
    dataflow its frames.
    """

    listed = lister(plan)
    lines: list[str] = []
    number = 0
    for step in plan.steps:
        drops = f"   drops {listed(step.frees)}" if step.frees else ""
        if step.is_shape:
            lines.append(f"         shape of {listed(step.writes)}{drops}")
            continue
        lines.append(f"  {number:>4}   {instruction_text(step, listed)}{drops}")
        if step.nested is not None:
            lines += [f"       {line}" for line in run_lines(step.nested)]
            lines += kept_lines(step)
        elif step.operator.type == "dataflow":
            lines += [f"         {line}" for line in frames_lines(step.operator.op.operators)]
        number += 1
    return lines


def kept_lines(step: Instruction) -> list[str]:
    """What every run of a block keeps for its gradient block."""
    saves = () if step.operator.op.backward else step.operator.op.saves
    values = [s.variable for s in saves if not s.shape]
    if not values:
        return []
    counts = [-1 if v.kind is not Kind.DENSE else count(v.shape) for v in values]
    total = sum(n * v.dtype.itemsize for n, v in zip(counts, values, strict=True))
    size = "as much as it makes" if -1 in counts else f"{total} bytes"
    names = ", ".join(v.name for v in values)
    return [f"         every run keeps {size} for its gradient: {names}"]


def frames_lines(operators: tuple[Operator, ...]) -> list[str]:
    """Primitives and what runs between them as a table, frame by frame."""
    table: dict[Path, list[str]] = {(): ["outside all frames"]}
    order: dict[Path, int] = {}
    for o, path in paths_of(operators, "block 0").items():
        for end in range(1, len(path) + 1):
            inner = path[:end]
            order.setdefault(inner, len(order))
            table.setdefault(inner, [f"frame `{inner[-1]}`"])
        table[path].append(operator_line(o))
    nested = sorted(table, key=lambda path: [order[path[:end]] for end in range(1, len(path) + 1)])
    return ["  " * len(path) + line for path in nested for line in table[path]]


def operator_line(o: Operator) -> str:
    """An operator, what it reads and makes, its attributes."""
    ins, outs = (", ".join(v.name for v in side) for side in (o.operands(), o.results()))
    attrs = ", ".join(f"{n}={v}" for n, v in o.attrs.items())
    return f"  {o.type} -> (({ins}), ({outs}), {{{attrs}}})"


def instruction_text(step: Instruction, listed: Any) -> str:
    """What an instruction fills, its operator and what that reads."""
    over = listed(s for s in step.reads if s not in step.writes)
    copied = "copy of " * step.copies
    return f"{listed(step.writes) or 'in place'} = {copied}{step.operator.type}({over})"


def edge_lines(plan: Any) -> list[str]:
    """Every edge that does not follow from others, with its reasons."""
    first, *rest = str(plan.graph).split("\n")
    return [first + ", in order" * plan.sequential, *rest]


def lifetime_lines(plan: Any) -> list[str]:
    """For every value who uses it, and those of them that let it go."""
    found = plan.lifetimes
    width = max((len(plan.names[life.slot]) for life in found), default=0)
    lines = ["last users: of all users of a value those that no other follows"]
    for life in found:
        lines.append(f"  {plan.names[life.slot]:<{width}}   {life}")
    return lines


def dot_text(plan: Any) -> str:
    """Instructions as boxes, edges coloured by their kinds."""
    lines = ["digraph plan {", "  node [shape=box, fontname=monospace]"]
    for i, step in enumerate(plan.instructions):
        lines.append(f'  {i} [label="{i} {step.operator.type}"]')
    for edge in plan.graph.edges:
        kinds = dict.fromkeys(reason.kind for reason in edge.reasons)
        colours = ":".join(COLOURS[kind] for kind in kinds)
        lines.append(f'  {edge.before} -> {edge.after} [color="{colours}", label="{edge.why}"]')
    return "\n".join([*lines, "}"])
