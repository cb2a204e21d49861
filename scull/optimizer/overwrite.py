"""Update operators over arrays: what they are given they write over."""

from typing import Any

from scull.autograd.version import changed
from scull.core.attribute import rounded
from scull.core.op import Op
from scull.core.tensor import Rows
from scull.core.timeline import active, applied, now


def overwrite(op: Op, values: dict[str, Any], attrs: dict[str, Any]) -> None:
    """Let an update operator change the arrays it is given by the names of its inputs."""
    arrays = [listed(op, n, values.get(n)) for n in op.inputs]
    outs = tuple([arrays[op.inputs.index(op.in_place[n])] for n in op.outputs])
    kernel = op.rows_kernel if isinstance(values["grad"], Rows) and op.rows_kernel else op.eager
    for n in op.rounds:
        attrs[n] = rounded(attrs[n])
    start = now() if active else 0
    kernel(*arrays, out=outs, **attrs)
    if active:
        applied(op.name, op.inputs, arrays, attrs, None, start)
    changed(values["param"], op.name)


def listed(op: Op, name: str, value: Any) -> Any:
    """`value` as input `name` of an update operator takes it: some take lists."""
    return [value] if name in op.lists and value is not None else value
