"""What the steps of a plan became is kept on disk: a plan seen before is not traced again.

An outline tells which steps are regions, what those read and make, and the names of their code. It
is named by all that decides about it: what the plan says, what stands in its frame at the start,
and what this package and those that trace and compile are made of. Plans with blocks, and with
operators that are declared elsewhere, have none.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from scull.compiler.native import Native, native_under
from scull.compiler.recall import named
from scull.core.dtype import DType, bool_, of_name
from scull.core.meta import Meta
from scull.executor.call import Part
from scull.executor.instruction import slot_numbers
from scull.executor.keeping import Dense
from scull.executor.listed import ListOf
from scull.lang.expression import Array
from scull.runtime.object_cache import object_cache

if TYPE_CHECKING:
    from scull.executor.plan import Plan

OURS = "scull."
DECIDING = ("core", "lang", "ir", "ops", "autograd", "compiler", "executor", "runtime")
PLAIN = (bool, int, float, str)  # of values of attributes


class ForeignError(Exception):
    """A plan says something that is not known here."""


def name_of(plan: "Plan", metas: Mapping[int, Any], fixed: Collection[int]) -> bytes | None:
    """The name of the outline of a plan for what its runs begin with; None where it has none."""
    slots = {v: i for i, v in enumerate(plan.variables) if v is not None}
    try:
        steps = [said(step, slots) for step in plan.steps]
    except ForeignError:
        return None
    around = [
        plan.size,
        sorted(plan.constants),
        plan.fetches,
        plan.stores,
        plan.left,
        sorted(plan.kept),
        plan.draws,
        [None if v is None else (str(v.meta), v.kind.name) for v in plan.variables],
        [(slot, str(meta)) for slot, meta in metas.items()],
        sorted(fixed),
    ]
    return named(repr((steps, around)), *DECIDING)


def said(step: Any, slots: dict[Any, int]) -> Any:
    """All of an instruction that decides about code; ForeignError where that is not known."""
    o, op = step.operator, step.operator.op
    if step.nested is not None or op.has_blocks or "python" in op.effects:
        raise ForeignError
    for each in (op.body, op.lowering, op.steps, getattr(op.forward, "body", None)):
        if each is not None and not getattr(each, "__module__", "").startswith(OURS):
            raise ForeignError
    found = [slot_numbers(s, slots) for s in (*o.inputs, *o.told.values(), *o.outputs)]
    attrs = [(n, plain(v)) for n, v in o.attrs.items()]
    over = None if o.over is None else slots[o.over]
    own = (step.reads, step.writes, step.frees, step.is_shape, step.shapes, step.copies, step.draws)
    return o.type, op.name, [*o.told], o.role, over, found, attrs, own, repr(step.put)


def plain(value: Any) -> Any:
    """A value of an attribute that its text tells all of."""
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if value is None or type(value) in PLAIN:
        return value
    if isinstance(value, DType):
        return value.name
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes()
    raise ForeignError


def keep(name: bytes, parts: Sequence[int | Part]) -> None:
    """Keep what the steps of a plan became."""
    object_cache().keep(name, json.dumps([written(part) for part in parts]).encode())


def written(part: int | Part) -> Any:
    """A step, or a region, as it stands in an outline."""
    if isinstance(part, int):
        return part
    native = part.native
    return {
        "key": native.key.hex(),
        "inputs": [[x.name, x.shape, x.dtype] for x in native.inputs],
        "outputs": [[x.name, x.shape, x.dtype] for x in native.outputs],
        "numbers": part.numbers,
        "slots": part.slots,
        "puts": part.puts,
        "over": sorted(part.over),
        "items": [[x.name, x.shape, x.dtype] for x in part.items],
        "heights": part.heights,
        "frees": part.frees,
        "takes": [[slot, taken(x)] for slot, x in part.takes],
        "doubts": part.doubts,
    }


def taken(x: Dense | ListOf) -> Any:
    """What comes into a region besides arrays, as it stands in an outline."""
    meta, there = (x.item, None) if isinstance(x, ListOf) else (x.meta, x.there)
    return meta.shape, meta.dtype.name, None if there is None else there.shape


def form(shape: Any, kind: str, there: Any) -> Dense | ListOf:
    """The same as an outline has it."""
    meta = Meta(tuple(shape), of_name(kind))
    return ListOf(meta) if there is None else Dense(meta, Meta(tuple(there), bool_))


def outlined(name: bytes, thought: Callable[[], Sequence[Native]]) -> list[int | Part] | None:
    """The steps and regions that are kept under a name, if all their code still is there.

    `thought` gives the code of the regions anew.
    """
    listed = object_cache().find(name)
    if listed is None:
        return None
    found: list[int | Part] = []
    count = 0
    for entry in json.loads(listed):
        if isinstance(entry, int):
            found.append(entry)
            continue
        part = read(entry, count, thought)
        if part is None:
            return None
        found.append(part)
        count += 1
    return found


def read(entry: Any, number: int, thought: Callable[[], Sequence[Native]]) -> Part | None:
    """The region of this number as an outline has it; None where its code is gone."""
    inputs, outputs, items = (
        tuple(Array(name, tuple(shape), dtype) for name, shape, dtype in entry[side])
        for side in ("inputs", "outputs", "items")
    )
    key = bytes.fromhex(entry["key"])
    native = native_under(key, inputs, outputs, lambda: thought()[number].region)
    if native is None:
        return None
    rest: Iterable[Any] = (entry[n] for n in ("numbers", "slots", "puts", "over", "heights"))
    numbers, slots, puts, over, heights = rest
    return Part(
        native,
        tuple(numbers),
        tuple(slots),
        tuple(puts),
        frozenset(over),
        items,
        tuple(heights),
        tuple(entry["frees"]),
        tuple((slot, form(*said)) for slot, said in entry["takes"]),
        entry["doubts"],
    )
