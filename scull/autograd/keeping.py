"""Values that gradients read and that operators overwrite before: copies of them are kept."""

from typing import Any

from scull.core import session
from scull.core.op import op_of
from scull.ir.operator import Operator, each
from scull.ir.reach import read, within
from scull.ir.variable import Variable


def keep_values(pass_: Any, o: Operator, made: list[Operator]) -> None:
    """Copies of what gradients of `o` read and what has another value when they run.

    They find variables as a run of their block leaves them, and those around a loop as a round
    finds them. What outlives runs is not copied at the outermost: that is for optimizers.
    """
    outermost = not pass_.nested
    own = set(each(o.outputs[0])) if o.type == "while" else set[Variable]()
    for m in made:
        (block,) = m.blocks() if m.op.has_blocks else (None,)
        asked = dict.fromkeys(m.operands()) if block is None else read(block)
        for v in asked:
            before, after = pass_.reads[o].get(v), pass_.writes[o].get(v)
            key = after if before is None or (after and o.op.has_blocks) else before
            if key is None or v in own or v not in pass_.version or (outermost and v.persistable):
                continue
            seen = 0 if pass_.again and v.block is not pass_.block else pass_.version[v]
            if key[1] != seen:
                if key not in pass_.copies:
                    pass_.copies[key] = copied(pass_, o, v, behind=key is after)
                for reader in readers(m):
                    if v in set(reader.operands()):
                        reader.replace(v, pass_.copies[key], inputs=True, outputs=False)


def readers(m: Operator) -> list[Operator]:
    """The operators that read values when `m` runs: itself, or those of its blocks."""
    if not m.op.has_blocks:
        return [m]
    return [o for block in m.blocks() for o in within(block) if not o.op.has_blocks]


def copied(pass_: Any, o: Operator, v: Variable, *, behind: bool) -> Variable:
    """A copy of `v`, made in the block where `o` stands, before it or `behind` it."""
    name = session.unique_name(v.name + "@KEPT")
    copy: Variable = pass_.block.variable(name, v.meta, stop_gradient=v.stop_gradient)
    made = Operator(pass_.block, op_of("assign"), (v,), (copy,), {})
    made.namescope, made.device, made.line = o.namescope, o.device, o.line
    pass_.block.insert(pass_.block.ops.index(o) + behind, made)
    return copy
