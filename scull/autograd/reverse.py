"""The gradients of a composite from those of its parts, for any values and any order."""

from typing import Any

from numpy import ndarray

from scull.autograd.trace import Applied, Trace, Traced, each, trace
from scull.core.interpreter import is_recording
from scull.core.op import Op, as_outputs, op_of
from scull.core.operand import weak_meta
from scull.core.rule import names_of
from scull.core.tensor import Tensor


def reverse(
    op: Op, inputs: list[Any], attrs: dict[str, Any], douts: list[Any], wanted: set[str]
) -> dict[str, Any]:
    """Run the parts of `op` on the values at hand, then their gradient bodies backwards."""
    some = tuple(n for n, d in zip(op.outputs, douts, strict=True) if d is not None)
    traced = trace(op, tuple(map(weak_meta, inputs)), attrs, some if op.forward else None)
    names = ["d" + op.up[n] for n in op.inputs]
    active = {
        v for slot, n in zip(traced.inputs, names, strict=True) if n in wanted for v in each(slot)
    }
    values = run_forward(traced, inputs, active)
    grads: dict[Any, Any] = {}
    for slot, given in zip(traced.outputs, douts, strict=True):
        pairs = zip(slot, given, strict=True) if isinstance(slot, list) and given else []
        for v, d in pairs or [(slot, given)]:
            if isinstance(v, Traced) and d is not None:
                grads[v] = grads[v] + d if v in grads else d
    for applied in reversed(traced.applied):
        run_backward(applied, values, grads, active)
    return {
        n: [grads.get(v) for v in slot] if isinstance(slot, list) else grads.get(slot)
        for slot, n in zip(traced.inputs, names, strict=True)
    }


def valued(values: dict[Any, Any], slot: Any) -> Any:
    """What stands in one entry of a trace, with the values at hand."""
    if isinstance(slot, list):
        return [valued(values, v) for v in slot]
    return values[slot] if isinstance(slot, Traced) else slot


def run_forward(traced: Trace, inputs: list[Any], active: set[Any]) -> dict[Any, Any]:
    """The value of every entry; `active` grows by what depends on it."""
    values: dict[Any, Any] = {}
    for slot, x in zip(traced.inputs, inputs, strict=True):
        pairs = zip(slot, x, strict=True) if isinstance(slot, list) else [(slot, x)]
        values |= {v: given for v, given in pairs if isinstance(v, Traced)}
    for applied in traced.applied:
        found = applied.op.call(*[valued(values, s) for s in applied.inputs], **applied.attrs)
        for slot, x in zip(applied.outputs, as_outputs(applied.op, found), strict=True):
            pairs = zip(slot, x, strict=True) if isinstance(slot, list) else [(slot, x)]
            values |= {v: given for v, given in pairs if v is not None}
        if active & set(applied.operands()) and applied.op.gradient:
            active |= set(applied.results())
    return values


def run_backward(
    applied: Applied, values: dict[Any, Any], grads: dict[Any, Any], active: set[Any]
) -> None:
    """Add the gradients of one applied operator's inputs to `grads`."""
    op, results = applied.op, applied.results()
    if not any(v in grads for v in results) or not active & set(results):
        return
    g = op.gradient
    assert g is not None
    known = {
        op.up[n]: valued(values, s)
        for n, s in zip(op.inputs + op.outputs, applied.inputs + applied.outputs, strict=True)
    }
    for n, slot in zip(op.outputs, applied.outputs, strict=True):
        known["d" + op.up[n]] = arrived(op, n, slot, values, grads)
    need = tuple(
        "d" + op.up[n]
        for n, s in zip(op.inputs, applied.inputs, strict=True)
        if set(each(s)) & active and "d" + op.up[n] in g.outputs
    )
    given = [known.get(n) for n in g.inputs]
    found = as_outputs(g, computed(g, given, {**applied.attrs, "wanted": need}))
    by_name = dict(zip(g.outputs, found, strict=True))
    for n, slot in zip(op.inputs, applied.inputs, strict=True):
        d = by_name.get("d" + op.up[n])
        pairs = zip(slot, d, strict=True) if isinstance(slot, list) and d else [(slot, d)]
        for v, one in pairs:
            if one is not None and isinstance(v, Traced) and v in active:
                grads[v] = grads[v] + one if v in grads else one


def computed(g: Op, given: list[Any], attrs: dict[str, Any]) -> Any:
    """What a gradient operator gives: by its kernel, as the tape has it, where nobody records."""
    tensors = any(isinstance(v, Tensor) for v in given)
    arrays = [v.array if isinstance(v, Tensor) else v for v in given]
    plain = all(v is None or isinstance(v, ndarray) for v in arrays)
    if g.cpu is None or not plain or (tensors and is_recording()):
        return g.body(*given, **attrs)
    found = g.cpu(*arrays, **attrs)
    if not tensors:
        return found
    made = tuple(x if x is None else Tensor(x) for x in as_outputs(g, found))
    return made if len(g.outputs) > 1 else made[0]


def arrived(op: Op, name: str, slot: Any, values: dict[Any, Any], grads: dict[Any, Any]) -> Any:
    """The gradient that reached a result; zeros where a rule insists on one that did not come."""
    named = any("d" + name in names_of(rule) for rule in op.rules.values()) or not op.rules
    if isinstance(slot, list):
        return [arrived(op, name, v, values, grads) for v in slot]
    if (
        grads.get(slot) is None
        and named
        and name not in op.optional
        and slot is not None
        and op.rules
    ):
        return op_of("fill_any_like").call(values[slot], value=0.0)
    return grads.get(slot)
