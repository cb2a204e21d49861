"""Values that follow from others by no work: who goes back over a round makes them anew.

Whether a branch runs, its denial, the number that chooses between results and what is handed to one
of two branches stay one truth value so, which tells who looks for it that branches exclude one
another, and what has a value where.
"""

from collections import Counter
from collections.abc import Iterable

from scull.core.dtype import bool_
from scull.ir.block import Block
from scull.ir.operator import Operator
from scull.ir.reach import within
from scull.ir.variable import Variable

FORMS = frozenset({"assign", "cast", "logical_not"})  # of a truth value


def roots_of(
    block: Block, kept: Iterable[Variable]
) -> tuple[dict[Variable, Variable], list[Operator]]:
    """The values, by themselves, from which `kept` follow, and the operators that tell how."""
    read, anew = {v: v for v in kept}, []
    for o in reversed(followers(block)):
        if not read.keys().isdisjoint(o.results()):
            for v in o.results():
                read.pop(v, None)
            read.update((v, v) for v in o.operands())
            anew.append(o)
    return read, anew[::-1]


def followers(block: Block) -> list[Operator]:
    """The operators of `block` whose results follow from values that stay while it runs."""
    writes = Counter(v for o in within(block) for v in o.results())

    def stays(v: Variable) -> bool:
        return writes[v] == (v.block is block)

    return [
        o
        for o in block.ops
        if o.type == "select_output" or (o.type in FORMS and o.operands()[0].dtype is bool_)
        if all(map(stays, o.operands())) and all(map(stays, o.results()))
    ]
