"""A region as one native function of a table: the arena, what it reads, what it writes."""

import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import count
from typing import Any

import numpy as np

from scull.compiler.arena import Arena, planned
from scull.compiler.decision import noted
from scull.compiler.driver import ENTRY, PREPARE, written
from scull.compiler.flow import (
    Nodes,
    arrays_read,
    controls,
    crossing,
    far_rows,
    laid_out,
    leaves,
    simplified,
    straightened,
)
from scull.compiler.fuse import counted
from scull.compiler.group import Group, grouped
from scull.compiler.home import Homes, homes_of, late_ones
from scull.compiler.kernel import code_of, said_of
from scull.compiler.memory import LARGE
from scull.compiler.once import apart_once
from scull.compiler.partial import parted
from scull.compiler.recall import Recalled, keep, name_of, recalled
from scull.compiler.reuse import with_rows_shared
from scull.compiler.separate import rounding
from scull.compiler.split import Code, rows_of
from scull.compiler.target import Target, target
from scull.compiler.text import node_lines
from scull.compiler.trace import Statement
from scull.compiler.tuner import tilings_of
from scull.core.timeline import spanned
from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.flags import flag, flags
from scull.lang.arithmetic import numpy_dtype
from scull.lang.body import Map
from scull.lang.expression import Array, axis
from scull.lang.kernel import Kernel
from scull.runtime import llvm
from scull.runtime.beside import Beside
from scull.runtime.elsewhere import processes
from scull.runtime.entry import STATUS_WORDS, address_of, entry
from scull.runtime.line import aligned
from scull.runtime.pool import pool

# words of a table behind its addresses: of what lasts; how many threads at most, 0: any
TAIL = STATUS_WORDS + 2
LASTING = -2
MANY = 200  # statements that take LLVM seconds: processes are worth starting

NumpyArray = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Region:
    """Groups in order, loops and branches among them, with the arrays at its edges and where the
    others lie.

    An array `over` another takes its memory: at once where nothing reads that any more, else when
    all is done.
    """

    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    nodes: tuple[Any, ...]
    arena: Arena
    homes: Homes = field(default_factory=Homes)
    over: Mapping[Array, Array] = field(default_factory=dict)
    late: tuple[Array, ...] = ()
    once: tuple[Group, ...] = ()

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """All groups, those of loops and branches too."""
        return (*self.once, *leaves(self.nodes))

    def __str__(self) -> str:
        """Its kernels in order, each with its loops."""
        head = f"region: {counted(len(self.groups), 'kernel')}, arena of {self.arena.size} bytes"
        numbers = count()
        once = node_lines(self.once, numbers)
        if once:
            once = ["once:", *(f"    {line}" for line in once)]
        return "\n".join([head, *once, *node_lines(self.nodes, numbers)])


def region_of(
    nodes: Nodes,
    inputs: Sequence[Array],
    outputs: Sequence[Array],
    over: Mapping[Array, Array] | None = None,
    fixed: Collection[Array] = (),
) -> Region:
    """Statements, loops and branches as groups, and the memory between them."""
    over = over or {}
    once, nodes = apart_once(laid_out(nodes, outputs, fixed), fixed, outputs)
    before = tuple(grouped(parted(once), [s.out for s in once]))
    kept = {*outputs, *crossing(nodes)}

    def groups(statements: Sequence[Statement]) -> list[Group]:
        return list(map(with_rows_shared, grouped(parted(statements), kept, over)))

    nodes = straightened(nodes, groups)
    for group, rows in far_rows(nodes, LARGE):
        group.far += rows
    late = late_ones(nodes, over)
    own = {x for x in over if x not in late}
    fresh = [x for x in outputs if x not in over]
    homes = homes_of(nodes)
    arena = planned(nodes, homes.behind, {*inputs, *fresh, *own}, late, before)
    return Region(tuple(inputs), tuple(fresh), tuple(nodes), arena, homes, over, late, before)


def kernel_of(group: Group, machine: Target) -> Code:
    """The function of a group, with the tiles that are best here where somebody asked for them."""
    return code_of(group, machine, tilings_of(group, machine))


def modules_of(region: Region, machine: Target, beside: Beside | None = None) -> list[llvm.Module]:
    """A module with the functions of a region, and one for each kernel; equal ones are one.

    LLVM works on each kernel `beside`, as soon as there is its text.
    """
    known: dict[str, Code] = {}

    def made(group: Group) -> Code:
        said = said_of(group)
        if said not in known:
            code = known[said] = kernel_of(group, machine)
            if beside is not None:
                beside.begin(code.text, code.name)
        return replace(known[said], rows=rows_of(group))

    return written(region, made)


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
        arena, lasting = aligned(region.arena.size), aligned(region.arena.lasts)
        places = [address_of(x) for x in (arena, *arrays)]
        table = np.array([*places, *[0] * TAIL], np.uint64)
        table[LASTING] = address_of(lasting)
        ways = [
            entry(
                self.library,
                name,
                table,
                release=release,
                status=len(places),
                keeps=(arena, lasting, *arrays),
            )
            for name in ([PREPARE] if region.once else []) + [ENTRY]
        ]
        if region.once:
            ways[0]()
        return ways[-1]


@dataclass(frozen=True)
class Native:
    """Machine code of a region, with the table it takes: its arena, inputs, outputs, its tail.

    What `lasts` is so many bytes, which the function PREPARE fills before the first run.
    `key` is what it is kept under on disk. `thought` gives the region, which nobody thought of
    where the code was there already.
    """

    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    library: llvm.Library
    name: str
    table: np.ndarray[Any, np.dtype[np.uint64]]
    arena: int
    lasts: int
    key: bytes
    thought: Callable[[], Region]

    @property
    def region(self) -> Region:
        """Its groups, and what lies between them."""
        return self.thought()


def native_of(
    nodes: Nodes,
    inputs: Sequence[Array],
    outputs: Sequence[Array],
    old: Sequence[Array],
    *,
    fixed: Collection[Array] = (),
    anew: bool = False,
) -> Native:
    """The machine code of statements, loops and branches; inputs that nothing reads are left out.

    The last outputs lie over the inputs that are `old`. What depends on inputs that are `fixed`
    alone, whose values never change, is computed before the first run. Code of an equal
    region is taken from the disk, unless it is to be thought of `anew`, for somebody who wants to
    know why it is so.
    """
    nodes, outputs = apart(nodes, inputs, outputs)
    over = dict(zip(outputs[len(outputs) - len(old) :], old, strict=True))

    @cache
    def thought() -> Region:
        return thought_of(nodes, inputs, outputs, over, fixed)

    debug = flag("DEBUG")
    name = name_of(nodes, inputs, outputs, old, tuple(x for x in inputs if x in fixed))
    found = None if anew or debug >= 3 else recalled(name, imports())
    if found is None:
        with Beside(None, processes() if len(list(leaves(nodes))) >= MANY else 0) as beside:
            region = thought()
            if debug >= 3:
                print(region, *(noted() if debug >= 5 else ()), sep="\n", file=sys.stderr)
            modules, library = built(region, target(), "region", beside)
        used = [n for n, x in enumerate(inputs) if x in region.inputs]
        found = Recalled(library, tuple(used), region.arena.size, region.arena.lasts)
        keep(name, modules, found)
    read = tuple(inputs[n] for n in found.used)
    return native_with(found, read, tuple(x for x in outputs if x not in over), name, thought)


def native_with(
    found: Recalled,
    inputs: tuple[Array, ...],
    outputs: tuple[Array, ...],
    key: bytes,
    thought: Callable[[], Region],
) -> Native:
    """Code and the table of what it reads and makes."""
    table = np.zeros(1 + len(inputs) + len(outputs) + TAIL, np.uint64)
    return Native(
        inputs, outputs, found.library, ENTRY, table, found.arena, found.lasts, key, thought
    )


def native_under(
    key: bytes,
    inputs: tuple[Array, ...],
    outputs: tuple[Array, ...],
    thought: Callable[[], Region],
) -> Native | None:
    """The machine code that is on the disk under a key, if it is; `thought` as in Native."""
    found = recalled(key, imports())
    return None if found is None else native_with(found, inputs, outputs, key, thought)


def thought_of(
    nodes: Nodes,
    inputs: Sequence[Array],
    outputs: Sequence[Array],
    over: Mapping[Array, Array],
    fixed: Collection[Array],
) -> Region:
    """The region of statements, loops and branches; inputs that nothing reads are left out."""
    nodes = simplified(nodes, outputs)
    read = {x for s in leaves(nodes) for x in arrays_read(s)} | set(over.values())
    read |= set().union(*(node.asked | node.left for node in controls(nodes)))
    return region_of(nodes, [x for x in inputs if x in read], outputs, over, fixed)


def imports() -> dict[str, int]:
    """What code calls that is not its own."""
    return {"share": pool().share}


def apart(
    nodes: Nodes,
    inputs: Sequence[Array],
    outputs: Sequence[Array],
) -> tuple[list[Any], list[Array]]:
    """The same with a copy of each output that no statement makes, or that is another one too."""
    found, made = list(nodes), list[Array]()
    ready = {node.out for node in nodes if isinstance(node, Statement)}
    for number, array in enumerate(outputs):
        if array not in ready:
            copy = Array(f"{array.name}_{number}", array.shape, array.dtype)
            axes = tuple(map(axis, array.shape))
            found.append(Statement(copy, Map(axes, array[axes]), "assign"))
            array = copy
        ready.discard(array)
        made.append(array)
    return found, made


def _check(wanted: Array, given: NumpyArray) -> None:
    if given.shape != wanted.shape:
        raise ShapeError(f"`{wanted.name}` is {list(wanted.shape)}, given {list(given.shape)}")
    if given.dtype != numpy_dtype(wanted.dtype):
        raise DtypeError(f"`{wanted.name}` is {wanted.dtype}, given {given.dtype}")
    if not given.flags.c_contiguous or not given.flags.aligned:
        raise ArgumentError(f"`{wanted.name}` is not contiguous in memory: copy it first")


@spanned("compile")
def built(
    region: Region, machine: Target, name: str, beside: Beside
) -> tuple[list[llvm.Module], llvm.Library]:
    """The modules of a region, and these as machine code, on which LLVM works `beside`."""
    start = time.perf_counter()
    modules = modules_of(region, machine, beside)
    if flag("DEBUG") >= 4:
        print(*(module.text for module in modules), file=sys.stderr)
    library = llvm.build(modules, imports(), codes_of=beside.codes_of)
    if flag("DEBUG") >= 1:
        took = (time.perf_counter() - start) * 1e3
        print(f"compiled {name} in {took:.1f} ms", file=sys.stderr)
    return modules, library


def compile_region(region: Region, name: str = "region", level: str = "") -> Compiled:
    """A region as machine code for this CPU, or as if it had no more than a level of vectors."""
    with Beside(llvm.target(level) if level else None) as beside:
        return Compiled(region, built(region, target(level), name, beside)[1])


def region_of_kernel(kernel: Kernel) -> Region:
    """The region of one kernel alone."""
    statements = [
        part
        for out, body in zip(kernel.outputs, kernel.bodies, strict=True)
        for part in rounding(Statement(out, body, kernel.name))
    ]
    return region_of(statements, kernel.inputs, kernel.outputs)


def compile(kernel: Kernel, level: str = "") -> Compiled:
    """One kernel as machine code for this CPU, or as if it had no more than a level of vectors."""
    if flag("DEBUG") >= 4:
        print(kernel, file=sys.stderr)
    with flags(VECTORS=level) if level else nullcontext():
        region = region_of_kernel(kernel)
    return compile_region(region, kernel.name, level)
