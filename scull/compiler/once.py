"""What depends on values that never change alone is computed once, for all runs and threads.

A predictor's weights are such values: how contractions read them is laid out before the first run.
"""

from collections.abc import Collection

from scull.compiler.flow import Nodes, arrays_read
from scull.compiler.trace import Statement
from scull.lang.expression import Array


def apart_once(
    nodes: Nodes, fixed: Collection[Array], outputs: Collection[Array]
) -> tuple[list[Statement], list[object]]:
    """The statements to run once, and the nodes of every run."""
    known, kept = set(fixed), set(outputs)
    once, always = list[Statement](), list[object]()
    for node in nodes:
        read = arrays_read(node) if isinstance(node, Statement) else set()
        if isinstance(node, Statement) and read and read <= known and node.out not in kept:
            once.append(node)
            known.add(node.out)
        else:
            always.append(node)
    return once, always
