"""What each layer takes: time and operations of the layers of one step, as a tree."""

from collections.abc import Iterator

from scull.profiler.state import TracerEventType as Kind
from scull.profiler.statistics import flops_of
from scull.profiler.tree import Node

SCALES = ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " K"))
TIMES = ((1e9, " s"), (1e6, " ms"), (1e3, " us"))


def layers_text(trees: dict[int, Node]) -> str:
    """The layers called first on each thread, with those within and their operators."""
    lines: list[str] = []
    for root in trees.values():
        first = next((n for n in root.walk() if n.type is Kind.Forward), None)
        lines.extend(shown(first, "") if first is not None else ())
    return "\n".join(lines)


def shown(node: Node, margin: str) -> Iterator[str]:
    """One layer or operator, then those within."""
    count = counted(node)
    rate = count * 1e9 / max(node.time, 1)
    took = scaled(node.time, TIMES, " ns")
    yield f"{margin}{node.name} latency: {took}, FLOPs: {scaled(count)}, FLOPS: {scaled(rate)}"
    for child in node.children_node if node.type is not Kind.Operator else ():
        if child.type in (Kind.Forward, Kind.Operator):
            yield from shown(child, margin + " ")


def counted(node: Node) -> int:
    """The operations of all operators within a layer."""
    if node.type is Kind.Operator:
        return flops_of(node)
    return sum(map(counted, node.children_node))


def scaled(
    number: float, scales: tuple[tuple[float, str], ...] = SCALES, smallest: str = ""
) -> str:
    """A number with two digits behind the point and the word for its size."""
    for size, word in scales:
        if number >= size:
            return f"{round(number / size, 2)}{word}"
    return f"{round(number, 2)}{smallest}"
