"""What sizes tell of values: for one set of sizes the numbers of a Program that follow from them.

Programs that take any sizes ask for them, compute with them, and reshape by them. For the sizes of
one run such numbers are known before it, and with them the sizes of what follows.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from scull.core.meta import Meta
from scull.executor.constant import COUNTS
from scull.executor.instruction import Instruction
from scull.executor.reuse import copied
from scull.executor.rounds import Known
from scull.ir.operator import Operator, each
from scull.ir.told import MANY, value_of
from scull.ir.variable import Variable
from scull.passes.unroll import SMALL

# Of a few numbers other few: what Programs make sizes with, besides what is computed of constants.
ARRANGING = frozenset(
    {"slice", "strided_slice", "concat", "stack", "gather"}
    | {"squeeze2", "unsqueeze2", "reshape2", "elementwise_floordiv", "elementwise_mod"}
    | {"reduce_prod", "reduce_sum"}
)


class Foretold(Known):
    """The small values of a run that its sizes tell; `meta_of` gives the meta of a variable."""

    types = Known.types | ARRANGING

    def __init__(self, meta_of: Callable[[Variable], Any]) -> None:
        super().__init__({})
        self.meta_of = meta_of

    def learn(self, o: Operator) -> None:
        """Know the results of `o` when its operands are known, or their sizes are asked for."""
        if o.type != "shape":
            super().learn(o)
            return
        meta = self.meta_of(o.operands()[0])
        (result,) = o.results()
        self.forget([result])
        if isinstance(meta, Meta) and -1 not in meta.shape:
            self.values[result] = np.array(meta.shape, result.meta.dtype.array)

    def computed(self, o: Operator) -> tuple[Any, ...]:
        """The results of an operator whose operands are known; nothing where these may be large."""
        return () if any(-1 in v.meta.shape for v in o.results()) else super().computed(o)

    def keep(self, v: Variable, value: Any) -> None:
        """Know a value that was made before the run."""
        if value.size <= SMALL:
            self.values[v] = value

    def settled(self, step: Instruction) -> Instruction:
        """A step whose attributes are known, where values that are known hold them."""
        o = step.operator
        told = {n: slot for n, slot in o.told.items() if self.knows(slot)}
        held = {n: held_by(o, n) for n, kind in o.op.kinds.items() if kind.wire in MANY}
        held = {n: name for n, name in held.items() if name and self.knows(slot_of(o, name))}
        if not held and (not told or len(told) < len(o.told)):
            return step
        made = copied(o)
        found = told | {n: slot_of(o, name) for n, name in held.items()}
        known = {n: value_of(o.op.kinds[n].wire, self.arrays(slot)) for n, slot in found.items()}
        made.told = {n: slot for n, slot in o.told.items() if n not in told}
        gone = {x for name in held.values() for x in (name, f"{name}_list")}
        pairs = zip(o.op.inputs, o.inputs, strict=True)
        made.inputs = tuple([None if name in gone else slot for name, slot in pairs])
        made.attrs = o.attrs | known
        if "infer_flags" in made.attrs and not any(held_by(made, n) for n in o.op.kinds):
            made.attrs["infer_flags"] = (1,) * len(made.attrs["infer_flags"])
        return replace(step, operator=made)

    def knows(self, slot: Any) -> bool:
        """Whether all that stands in a slot is known."""
        return all(v in self.values for v in each(slot))

    def arrays(self, slot: Any) -> Any:
        """The values of what stands in a slot."""
        return [self.values[v] for v in slot] if isinstance(slot, list) else self.values[slot]

    def count(self, o: Operator) -> int | None:
        """How many numbers an operator gives whose operands say so; None where it will refuse."""
        operands = o.operands()
        if o.type not in COUNTS or not all(v in self.values for v in operands):
            return None
        try:
            count = COUNTS[o.type](*[self.values[v] for v in operands])
        except (ArithmeticError, ValueError):
            return None
        return count if count >= 0 else None


def held_by(o: Operator, attribute: str) -> str:
    """The input that holds an attribute, if one does: a tensor goes before a list of them."""
    names = [n for n in (f"{attribute}_tensor", f"{attribute}_tensor_list") if n in o.op.inputs]
    return next((name for name in names if each(slot_of(o, name))), "")


def slot_of(o: Operator, name: str) -> Any:
    """What stands in the slot of an input."""
    return o.inputs[o.op.inputs.index(name)]
