"""A region as one native function of a table: the arena, what it reads, what it writes."""

import hashlib
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from scull.compiler.arena import ALIGNMENT, Arena, planned
from scull.compiler.arrange import arranged
from scull.compiler.decision import noted
from scull.compiler.fuse import counted, fused, loads_of
from scull.compiler.group import Group, grouped
from scull.compiler.kernel import NOTE, arrays_of, function_of
from scull.compiler.pack import packed
from scull.compiler.phase import phased
from scull.compiler.remainder import REMAINDER
from scull.compiler.separate import separated
from scull.compiler.sparse import unscattered
from scull.compiler.split import Code
from scull.compiler.target import Target, target
from scull.compiler.text import group_lines
from scull.compiler.trace import Statement
from scull.core.timeline import spanned
from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.flags import flag
from scull.lang.arithmetic import numpy_dtype
from scull.lang.body import Map, Scatter
from scull.lang.dtype import element
from scull.lang.expression import Array, axis
from scull.lang.kernel import Kernel
from scull.runtime import llvm
from scull.runtime.entry import STATUS_WORDS, address_of, entry

ENTRY = "region"

NumpyArray = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Region:
    """Groups in order, with the arrays at its edges and where the others lie.

    An array `over` another takes its memory: at once where nothing reads that any more, else when
    all is done.
    """

    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    groups: tuple[Group, ...]
    arena: Arena
    over: Mapping[Array, Array] = field(default_factory=dict)
    late: tuple[Array, ...] = ()

    def __str__(self) -> str:
        """Its kernels in order, each with its loops."""
        found = [f"region: {counted(len(self.groups), 'kernel')}, arena of {self.arena.size} bytes"]
        for number, group in enumerate(self.groups):
            found.append(f"kernel {number}: {', '.join(group.origins)}")
            found += [f"    {line}" for line in group_lines(group)]
        return "\n".join(found)


def region_of(
    statements: Sequence[Statement],
    inputs: Sequence[Array],
    outputs: Sequence[Array],
    over: Mapping[Array, Array] | None = None,
) -> Region:
    """The groups of statements and the memory between them."""
    over = over or {}
    fixed = [*outputs, *(x for x in (getattr(s.body, "base", None) for s in statements) if x)]
    groups = tuple(grouped(packed(arranged(statements, fixed)), outputs, over))
    last = {x: n for n, group in enumerate(groups) for x in group.read}
    makers = {x: n for n, group in enumerate(groups) for x in group.written}
    late = tuple(
        new
        for new, old in over.items()
        if last.get(old, -1) > makers[new] or not at_once(groups[makers[new]], new, old)
    )
    own = {x for x in over if x not in late}
    fresh = [x for x in outputs if x not in over]
    arena = planned(groups, {*inputs, *fresh, *own}, late)
    return Region(tuple(inputs), tuple(fresh), groups, arena, over, late)


def at_once(group: Group, new: Array, old: Array) -> bool:
    """Whether a group may write `new` where `old` lies: it reads each element before, or never."""
    for stage in group.stages:
        loads = [load for load in stage.loads if load.array == old]
        if loads and new not in stage.arrays:
            return False
        body = stage.bodies[stage.arrays.index(new)] if loads else None
        places = body.index if isinstance(body, Scatter) else stage.axes
        if any(load.operands != places for load in loads):
            return False
    return True


def kernel_of(group: Group, machine: Target) -> Code:
    """The function of a group, with a name by what it does."""
    code = function_of(group, "KERNEL", machine)
    name = "k" + hashlib.sha256(code.text.encode()).hexdigest()[:24]
    text = code.text.replace("@KERNEL(", f"@{name}(")
    return replace(
        code, name=name, text=text + (REMAINDER if "@truncated_remainder" in text else "")
    )


def modules_of(region: Region, machine: Target) -> list[llvm.Module]:
    """A module with the function of a region, and one for each kernel; equal ones are one."""
    places = {x: f"%t{n}" for n, x in enumerate((*region.inputs, *region.outputs))}
    head = [
        f"define void @{ENTRY}(ptr %table) nounwind {{",
        "entry:",
        "  %arena = load ptr, ptr %table",
    ]
    for number, name in enumerate(places.values()):
        head.append(f"  {name}.at = getelementptr ptr, ptr %table, i64 {number + 1}")
        head.append(f"  {name} = load ptr, ptr {name}.at")
    status = 1 + len(region.inputs) + len(region.outputs)
    head.append(f"  %status = getelementptr i64, ptr %table, i64 {status}")
    places[NOTE] = "%status"
    places |= {new: places[old] for new, old in region.over.items() if new not in region.late}
    for number, (array, block) in enumerate(region.arena.blocks.items()):
        places[array] = f"%a{number}"
        head.append(f"  %a{number} = getelementptr i8, ptr %arena, i64 {block.offset}")
    kernels: dict[str, llvm.Module] = {}
    declared = []
    for group in region.groups:
        code, arrays = kernel_of(group, machine), arrays_of(group)
        if code.name not in kernels:
            kernels[code.name] = llvm.Module(code.text, (code.name,))
            kinds = ", ".join([*["ptr"] * len(arrays), "i64", "i64"])
            declared.append(f"declare void @{code.name}({kinds})")
        given = [*(f"ptr {places[x]}" for x in arrays), "i64 0", f"i64 {code.chunks}"]
        head.append(f"  call void @{code.name}({', '.join(given)})")
        if NOTE in arrays:
            head += _leaving(len(head))
    for array in region.late:
        size = array.size * element(array.dtype).itemsize
        ends = f"ptr {places[region.over[array]]}, ptr {places[array]}"
        head.append(f"  call void @llvm.memcpy.p0.p0.i64({ends}, i64 {size}, i1 false)")
    driver = "\n".join([*declared, *head, "  ret void", "}", ""])
    return [*kernels.values(), llvm.Module(driver, (ENTRY,))]


def _leaving(number: int) -> list[str]:
    """The end of a run in which an index was out of range."""
    found, wrong = f"%status{number}", f"%wrong{number}"
    return [
        f"  {found} = load i64, ptr %status",
        f"  {wrong} = icmp ne i64 {found}, 0",
        f"  br i1 {wrong}, label %leave{number}, label %go{number}",
        f"leave{number}:",
        "  ret void",
        f"go{number}:",
    ]


class Compiled:
    """A region as machine code."""

    def __init__(self, region: Region, library: llvm.Library) -> None:
        self.region, self.library = region, library

    def __call__(self, inputs: Sequence[NumpyArray], outputs: Sequence[NumpyArray]) -> None:
        """Compute the outputs, which are contiguous arrays of the region's shapes and dtypes."""
        self.bind(inputs, outputs)()

    def bind(
        self, inputs: Sequence[NumpyArray], outputs: Sequence[NumpyArray], *, release: bool = True
    ) -> Callable[[], None]:
        """A builtin that computes from these arrays into these, as often as it is called."""
        region, arrays = self.region, (*inputs, *outputs)
        for wanted, given in zip((*region.inputs, *region.outputs), arrays, strict=True):
            _check(wanted, given)
        arena = aligned(region.arena.size)
        places = [address_of(x) for x in (arena, *arrays)]
        table = np.array([*places, *[0] * STATUS_WORDS], np.uint64)
        return entry(
            self.library,
            ENTRY,
            table,
            release=release,
            status=len(places),
            keeps=(arena, *arrays),
        )


@dataclass(frozen=True)
class Native:
    """Machine code of a region, with the table it takes: its arena, inputs, outputs, status."""

    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    region: Region
    library: llvm.Library
    name: str
    table: np.ndarray[Any, np.dtype[np.uint64]]


def native_of(
    statements: Sequence[Statement],
    inputs: Sequence[Array],
    outputs: Sequence[Array],
    old: Sequence[Array],
) -> Native:
    """The machine code of statements; inputs that nothing reads are left out.

    The last outputs lie over the inputs that are `old`.
    """
    statements, outputs = apart(statements, inputs, outputs)
    over = dict(zip(outputs[len(outputs) - len(old) :], old, strict=True))
    statements = fused(unscattered(phased(separated(statements))), outputs)
    read = {load.array for s in statements for load in loads_of(s.body)} | set(over.values())
    used = [x for x in inputs if x in read]
    region = region_of(statements, used, outputs, over)
    if flag("DEBUG") >= 3:
        reasons = noted() if flag("DEBUG") >= 5 else ()
        print(region, *reasons, sep="\n", file=sys.stderr)
    library = compile_region(region).library
    table = np.zeros(1 + len(region.inputs) + len(region.outputs) + STATUS_WORDS, np.uint64)
    return Native(region.inputs, region.outputs, region, library, ENTRY, table)


def apart(
    statements: Sequence[Statement],
    inputs: Sequence[Array],
    outputs: Sequence[Array],
) -> tuple[list[Statement], list[Array]]:
    """The same with a copy of each output that is an input, or another output too."""
    found, seen, made = list(statements), set(inputs), list[Array]()
    for number, array in enumerate(outputs):
        if array in seen:
            copy = Array(f"{array.name}_{number}", array.shape, array.dtype)
            axes = tuple(map(axis, array.shape))
            found.append(Statement(copy, Map(axes, array[axes]), "assign"))
            array = copy
        seen.add(array)
        made.append(array)
    return found, made


def aligned(size: int) -> NumpyArray:
    """So many bytes, beginning where vectors like to."""
    whole = np.empty(size + ALIGNMENT, np.uint8)
    start = -whole.ctypes.data % ALIGNMENT
    return whole[start : start + size]


def _check(wanted: Array, given: NumpyArray) -> None:
    if given.shape != wanted.shape:
        raise ShapeError(f"`{wanted.name}` is {list(wanted.shape)}, given {list(given.shape)}")
    if given.dtype != numpy_dtype(wanted.dtype):
        raise DtypeError(f"`{wanted.name}` is {wanted.dtype}, given {given.dtype}")
    if not given.flags.c_contiguous or not given.flags.aligned:
        raise ArgumentError(f"`{wanted.name}` is not contiguous in memory: copy it first")


@spanned("compile")
def compile_region(region: Region, name: str = "region", level: str = "") -> Compiled:
    """A region as machine code for this CPU, or as if it had no more than a level of vectors."""
    modules = modules_of(region, target(level))
    if flag("DEBUG") >= 4:
        print(*(module.text for module in modules), file=sys.stderr)
    start = time.perf_counter()
    code = llvm.build(modules, target=llvm.target(level) if level else None)
    if flag("DEBUG") >= 1:
        took = (time.perf_counter() - start) * 1e3
        print(f"compiled {name} in {took:.1f} ms", file=sys.stderr)
    return Compiled(region, code)


def region_of_kernel(kernel: Kernel) -> Region:
    """The region of one kernel alone."""
    statements = [
        Statement(out, body, kernel.name)
        for out, body in zip(kernel.outputs, kernel.bodies, strict=True)
    ]
    return region_of(statements, kernel.inputs, kernel.outputs)


def compile(kernel: Kernel, level: str = "") -> Compiled:
    """One kernel as machine code for this CPU, or as if it had no more than a level of vectors."""
    if flag("DEBUG") >= 4:
        print(kernel, file=sys.stderr)
    return compile_region(region_of_kernel(kernel), kernel.name, level)
