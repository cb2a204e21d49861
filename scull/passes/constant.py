"""Values without operands: made once, outside all blocks, and led to where they are read."""

from typing import TYPE_CHECKING, Any

from scull.core.dtype import int64
from scull.core.meta import Kind, Meta
from scull.core.op import op_of
from scull.ir.operator import Operator
from scull.ir.variable import Variable
from scull.passes.place import Place

if TYPE_CHECKING:
    from scull.passes.dataflow import Lowering


def zero_of(to: "Lowering") -> Variable:
    """The number 0."""
    if "zero" not in to.constants:
        made = to.constants["zero"] = to.variable("zero", Meta((1,), int64), True)
        attrs = {"shape": (1,), "value": 0.0, "dtype": int64}
        to.write(op_of("fill_constant"), (None,) * 3, (made,), attrs)
    return to.constants["zero"]


def empty_list(to: "Lowering", like: Meta) -> Variable:
    """A list without tensors, of those that would be as `like` says."""
    meta = like.with_kind(Kind.ARRAY)
    if meta not in to.constants:
        made = to.constants[meta] = to.variable("list", meta, True)
        to.write(op_of("empty_list"), (), (made,), {})
    return to.constants[meta]


def bound_to(
    to: "Lowering", place: Place, o: Operator
) -> tuple[tuple[Any, ...], dict[str, Variable]]:
    """What `o` reads when it is told its sizes: without operands it would be of no round."""
    for name in o.op.enlarges:
        known = o.attrs[name] if isinstance(o.attrs[name], tuple) else (o.attrs[name],)
        made = to.variable(name, Meta((len(known),), int64), True)
        attrs = {"shape": (len(known),), "dtype": int64, "int64_values": known}
        to.write(op_of("assign_value"), (), (made,), attrs)
        sizes = to.from_root(place, made)
        if "shape_tensor" in o.op.inputs:
            return tuple(sizes if n == "shape_tensor" else None for n in o.op.inputs), {}
        return o.inputs, {name: sizes}
    raise to.refused("it reads nothing that says in which round it acts")
