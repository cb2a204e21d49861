"""A composite's body as a list of applied operators, without names; numbers stay numbers."""

from dataclasses import dataclass
from typing import Any

from scull.core.interpreter import Interpreter, interpreting
from scull.core.meta import Meta, promote
from scull.core.op import Op, as_outputs, op_of
from scull.core.operand import padded, strengthened, weak_meta
from scull.core.tensor import Value


class Traced(Value):
    """A value within a trace; compared by identity."""

    __slots__ = ()


@dataclass(eq=False, slots=True)
class Applied:
    """One operator of a trace; an entry is a Traced, None, a number, or a list of them."""

    op: Op
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    attrs: dict[str, Any]

    def operands(self) -> list[Traced]:
        return [v for slot in self.inputs for v in each(slot)]

    def results(self) -> list[Traced]:
        return [v for slot in self.outputs for v in each(slot)]


@dataclass(eq=False, slots=True)
class Trace:
    """What a body does: its inputs, its operators in order, its outputs."""

    inputs: list[Any]
    applied: list[Applied]
    outputs: list[Any]


def each(slot: Any) -> list[Traced]:
    """The values of one entry."""
    return [v for v in (slot if isinstance(slot, list) else [slot]) if isinstance(v, Traced)]


def entry(meta: Any) -> Any:
    """The entry of a trace for what is known of a value, or of a list with gaps."""
    if type(meta) is list:
        return list(map(entry, meta))
    return Traced(meta) if isinstance(meta, Meta) else meta


def of_one_type(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """`inputs` cast to the element type in which those that differ meet."""
    dtypes = {x.dtype for x in inputs if isinstance(x, Value)}
    if len(dtypes) < 2:
        return inputs
    common, cast = promote(*dtypes), op_of("cast").call
    return tuple(
        cast(x, in_dtype=x.dtype, out_dtype=common) if isinstance(x, Value) else x for x in inputs
    )


class Tracer(Interpreter):
    """Notes every operator instead of running it."""

    def __init__(self) -> None:
        self.applied: list[Applied] = []

    def apply(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        attrs.pop("name", None)
        inputs = of_one_type(padded(op, inputs)) if op.align else padded(op, inputs)
        metas = op.infer(strengthened(tuple(map(weak_meta, inputs))), attrs)
        outs = tuple(map(entry, metas))
        self.applied.append(Applied(op, tuple(inputs), outs, attrs))
        return outs if len(op.outputs) != 1 else outs[0]


def trace(op: Op, metas: tuple[Any, ...], attrs: dict[str, Any], wanted: Any = None) -> Trace:
    """The body of a composite, traced once for each kind of operands."""
    key = (repr(metas), repr(sorted(attrs.items())), wanted)
    if key not in op._expansions:
        inputs = list(map(entry, metas))
        extra = {"wanted": wanted} if wanted else {}
        with interpreting(Tracer()) as tracer:
            found = as_outputs(op, op.body(*inputs, **attrs, **extra))
        op._expansions[key] = Trace(inputs, tracer.applied, list(found))
    traced: Trace = op._expansions[key]
    return traced
