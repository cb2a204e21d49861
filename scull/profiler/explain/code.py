"""What the compiler makes of a plan: regions of kernels, with the time each takes alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scull.compiler import native
from scull.compiler.arena import bytes_of
from scull.compiler.decision import Decision
from scull.compiler.flow import leaves
from scull.compiler.group import Group
from scull.compiler.kernel import NOTE, arrays_of
from scull.compiler.rows import TracedRows
from scull.compiler.target import target
from scull.compiler.timing import best, repeating
from scull.compiler.trace import Traced
from scull.executor.binding import Bound
from scull.executor.call import Call
from scull.executor.compiled import Specialised, sizes_of
from scull.executor.division import Region, edge_arrays
from scull.executor.run import run
from scull.executor.sliced import told
from scull.runtime import llvm
from scull.runtime.entry import STATUS_WORDS, address_of
from scull.runtime.line import aligned
from scull.runtime.object_cache import Statistics, object_cache


@dataclass(frozen=True)
class Kernel:
    """A group as it was compiled; `seconds` are None where running it would be seen outside."""

    group: Group
    name: str
    text: str
    seconds: float | None


@dataclass(frozen=True)
class Made:
    """A region with its kernels.

    `numbers` are the steps of the plan that it is. `slots` are those of the frame that arrays stand
    for, `steps` those of the plan that they come from, `origins` the operators.
    """

    region: native.Region
    kernels: tuple[Kernel, ...]
    decisions: tuple[Decision, ...]
    numbers: tuple[int, ...]
    slots: dict[str, int]
    steps: dict[str, int]
    origins: dict[str, str]


@dataclass(frozen=True)
class Code:
    """All regions of a plan; `before` and `after` are what the cache of objects had done.

    `reasons` tell, by the number of a step, why it stays an instruction; `batch` what becomes of
    batches of other sizes.
    """

    regions: tuple[Made, ...]
    reasons: dict[int, str]
    before: Statistics
    after: Statistics
    batch: str


def code_of(bound: Bound, frame: list[Any], *, runs: bool) -> Code | None:
    """The machine code of runs that begin with `frame`; nothing where there is none.

    With `runs` the plan is run over the frame, and each kernel is timed with what it finds there.
    """
    if bound.device is not None or not llvm.available():
        return None
    before = object_cache().statistics
    metas = sizes_of(frame)
    special = Specialised(bound.plan, metas, anew=True)
    rows, batch = special.steps(), told(bound.plan, metas)
    after = object_cache().statistics
    made = {part: (region, decisions) for part, region, decisions in special.made}
    found = []
    for row in rows:
        if isinstance(row[0], Call):
            found.append(made_of(row[0], *made[row[0].part], frame if runs else None))
        if runs:
            run(bound.plan, (row,), frame)
    return Code(tuple(found), special.reasons, before, after, batch)


def made_of(
    call: Call, traced: Region, decisions: tuple[Decision, ...], frame: list[Any] | None
) -> Made:
    """One region, its kernels timed over a frame if there is one."""
    region, library = call.native.region, call.native.library
    codes = [native.kernel_of(group, target()) for group in region.groups]
    seconds: Sequence[float | None] = [None] * len(codes)
    begun = None if frame is None else call.begun(frame)
    if begun is not None:
        given = [np.ascontiguousarray(x) for x in call.get(begun)]
        seconds = timed(region, [(library.addresses[c.name], c.chunks) for c in codes], given)
    kernels = tuple(
        Kernel(group, code.name, code.text, took)
        for group, code, took in zip(region.groups, codes, seconds, strict=True)
    )
    places = [slot for slot in call.puts for _ in edge_arrays(traced.values[slot])]
    results = zip(call.native.outputs, places, strict=True)
    slots = {array.name: slot for array, slot in results}
    for values in (traced.given, traced.values):
        for slot, value in values.items():
            for array in edge_arrays(value) if isinstance(value, Traced | TracedRows) else ():
                slots.setdefault(array.name, slot)
    statements, steps, start = traced.tracer.statements, dict[str, int](), 0
    for number, end in traced.ends:
        steps.update((s.out.name, number) for s in leaves(statements[start:end]))
        start = end
    origins = {s.out.name: s.origin for s in leaves(statements)}
    numbers = tuple(number for number, _ in traced.ends)
    return Made(region, kernels, decisions, numbers, slots, steps, origins)


def timed(
    region: native.Region,
    functions: Sequence[tuple[int, int]],
    given: Sequence[np.ndarray[Any, Any]],
) -> list[float]:
    """The seconds of each kernel, over what those before it left in memory.

    `functions` are their addresses and how many chunks they have, which one thread runs.
    """
    memory = {array.name: value for array, value in zip(region.inputs, given, strict=True)}
    for new, old in region.over.items():  # updates lie over a copy of what they update
        if new not in region.late:
            memory[new.name] = memory[old.name] = memory[old.name].copy()
    last = {x.name: n for n, group in enumerate(region.groups) for x in arrays_of(group)}
    found = []
    for number, (group, function) in enumerate(zip(region.groups, functions, strict=True)):
        arrays = arrays_of(group)
        for array in arrays:
            if array == NOTE:
                memory[array.name] = np.zeros(STATUS_WORDS, np.int64)
            elif array.name not in memory:
                memory[array.name] = aligned(bytes_of(array))
                memory[array.name][:] = 0
        table = np.array([address_of(memory[x.name]) for x in arrays], np.uint64)
        repeat = repeating(len(arrays))
        found.append(best(lambda count: repeat(*function, address_of(table), count)))  # noqa: B023
        for array in arrays:
            if last[array.name] == number:
                del memory[array.name]
    return found
