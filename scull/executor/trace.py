"""What an operator without a kernel of its own does with its operands: the body, run on metas.

It tells the sizes of the results, and which of them lie in an operand's memory.
"""

from enum import Enum
from typing import Any, NamedTuple

from scull import lang
from scull.core.eager import Abstract, lifted
from scull.core.interpreter import interpreting
from scull.core.meta import Meta, known
from scull.core.op import Op, as_outputs
from scull.core.operand import padded
from scull.core.refusal import lawful
from scull.core.tensor import Value
from scull.errors import ScullError
from scull.executor.instruction import unrecorded
from scull.ir.operator import Operator, each
from scull.ir.variable import Variable
from scull.lang.body import Map
from scull.lang.expression import Load
from scull.lang.walk import ordered


class Origin(NamedTuple):
    """What a value lies in."""

    value: Any  # an operand
    strided: bool  # whether its elements may not lie in order
    doubtful: bool = False  # whether it may be a copy instead


class Reading(Enum):
    """How a result that may be a view reads its operand."""

    STEPS = "in steps along axes: it is a view"
    ORDER = "in order: it is a view of what lies in order, and else perhaps a copy"
    COMPUTED = "to compute with it: it is no view"
    UNKNOWN = "nobody says how"

    def of(self, source: Origin) -> Origin:
        """What a result that reads `source` so lies in."""
        keeps = self is Reading.ORDER and not source.strided
        copied = source.strided and self is not Reading.STEPS
        return Origin(source.value, not keeps, source.doubtful or copied)


class Tracing(Abstract):
    """Computes metas, and notes which values are views."""

    def __init__(self, origins: dict[int, Origin]) -> None:
        self.origins = origins  # by the ids of values
        self.alive: list[Any] = []  # so that no two values have one id

    def apply(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        if op.composite and op.cpu is None:
            attrs.pop("name", None)
            return op.body(*inputs, **attrs)
        found = super().apply(op, inputs, attrs)
        self.alive.append((inputs, found))
        operands = dict(zip(op.inputs, inputs, strict=False))
        results = dict(zip(op.outputs, as_outputs(op, found), strict=True))
        for result, operand in op.views.items():
            source = operands.get(operand)
            if isinstance(source, Value) and id(source) in self.origins:
                how = reading(op, inputs, results[result], attrs)
                for v in values_in(results[result]) if how is not Reading.COMPUTED else ():
                    self.origins[id(v)] = how.of(self.origins[id(source)])
        return found


def values_in(slot: Any) -> list[Value]:
    """The values in one slot."""
    return [v for v in (slot if isinstance(slot, list) else [slot]) if isinstance(v, Value)]


def reading(op: Op, operands: tuple[Any, ...], result: Any, attrs: dict[str, Any]) -> Reading:
    """How an operator reads its first operand, as its lowering says for these sizes.

    Files may declare sizes that no lowering takes.
    """
    metas = [x.meta if hasattr(x, "meta") else x for x in (*padded(op, operands), result)]
    if op.name == "assign":  # one that hands on its operand
        return Reading.ORDER
    if op.lowering is None or len(op.outputs) > 1 or op.output_lists:
        return Reading.UNKNOWN
    if not all(m is None or (isinstance(m, Meta) and known(m.shape)) for m in metas):
        return Reading.UNKNOWN
    attrs = {n: attrs.get(n, op.attrs.get(n)) for n in op.kinds}
    try:
        body = lang.trace(op.lowering, metas[:-1], metas[-1:], attrs, op.name).bodies[0]
    except Exception as error:
        if not isinstance(lawful(error, op), ScullError):
            raise
        return Reading.UNKNOWN
    if not (isinstance(body, Map) and isinstance(body.value, Load)):
        return Reading.COMPUTED
    made = {getattr(e, "operation", "") for e in ordered(body.value.operands)}
    return Reading.ORDER if made & {"floor_divide", "remainder"} else Reading.STEPS


def is_traced(op: Any) -> bool:
    """Whether the body is what runs."""
    return bool(op.composite and op.cpu is None and op.planned is None)


def traced(
    operator: Operator, metas: tuple[Any, ...], strided: set[Variable]
) -> dict[Variable, tuple[Meta, Origin | None]] | None:
    """What the body of an operator says of its results, for operands of these metas.

    That is the meta of each, and the operand it lies in. None where a body mixes arrays in ways
    that the type rules of its parts refuse, or stumbles over an operand that is not there. Those in
    `strided` may not lie in order.
    """
    op, attrs = operator.op, dict(operator.attrs)
    metas = unrecorded(op, metas)
    if op.takes_wanted:
        pairs = zip(op.outputs, operator.outputs, strict=False)
        attrs["wanted"] = tuple(n for n, slot in pairs if slot is not None)
    operands = [Value(m) if isinstance(m, Meta) else lifted(m) for m in metas]
    origins = {
        id(value): Origin(v, v in strided)
        for slot, operand in zip(operator.inputs, operands, strict=True)
        for v, value in zip(each(slot), values_in(operand), strict=True)
    }
    tracing = Tracing(origins)
    try:
        with interpreting(tracing):
            found = as_outputs(op, op.body(*operands, **attrs))
    except Exception as error:
        if not isinstance(lawful(error, op), ScullError):
            raise
        return None
    results: dict[Variable, tuple[Meta, Origin | None]] = {}
    for slot, made in zip(operator.outputs, found, strict=False):
        for v, value in zip(each(slot), values_in(made), strict=False):
            results[v] = value.meta, origins.get(id(value))
            origins.setdefault(id(value), Origin(v, False))  # another result may be the same value
    return results
