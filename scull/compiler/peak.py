"""What this machine does at most, measured once: operations on floats, and bytes moved.

One thread runs code made for it: independent multiplications and additions in registers, and loads
and stores of vectors over pieces of memory from what fits into the first cache to what fits none.
"""

import ctypes
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from scull.compiler.cost import Cost
from scull.compiler.matrix import FULL, INTRINSICS, REGISTERS, ROWS, TERMS, WIDE, configured
from scull.compiler.target import Target, target
from scull.compiler.timing import best
from scull.runtime import llvm
from scull.runtime.entry import address_of

TURNS = 4096  # of the loop of arithmetic in one call
CHAINS = 12  # sums that do not wait for one another
SUMS = 4  # registers of a matrix unit that have sums
SIZES = tuple(1 << n for n in range(14, 27, 2))  # bytes that are moved over and over
LEAST = 1 << 18  # bytes of one call, which costs a little itself
UNROLLED = 8  # vectors in one turn of a loop

LOOP = """
define void @{name}(ptr %x, i64 %count, i64 %mask) nounwind {{
entry:
  br label %turn
turn:
  %i = phi i64 [0, %entry], [%next, %turn]
{phis}
{lines}
  %next = add i64 %i, {step}
  %more = icmp ult i64 %next, %count
  br i1 %more, label %turn, label %done
done:
{ends}
  ret void
}}
"""


@dataclass(frozen=True)
class Peak:
    """Operations in a second by dtype, and bytes in a second by how many at least are moved.

    Those of bfloat16 are in sums of products of pairs.
    """

    operations: dict[str, float]
    bandwidths: tuple[tuple[int, float], ...]

    def seconds(self, cost: Cost) -> float:
        """The time a kernel takes at least: whichever of moving and computing takes longer."""
        pairs = cost.paired / self.operations["bfloat16"]
        rest = (cost.operations - cost.paired) / self.operations[cost.dtype]
        return max(self.moving(cost), pairs + rest)

    def moving(self, cost: Cost) -> float:
        """The time its bytes take."""
        size = cost.read + cost.written
        rates = [rate for least, rate in self.bandwidths if least <= size]
        return size / (rates[-1] if rates else self.bandwidths[0][1])


@cache
def peak() -> Peak:
    """The peak of this machine, measured when first asked for, in half a second."""
    bits, steps = target().bits, loops(target())
    text = "".join([*(step.text for step in steps.values()), reading(bits), copying(bits)])
    library = llvm.build([llvm.Module(text, (*steps, "read", "copy"))])

    def took(name: str, count: int, mask: int = 0) -> float:
        made = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
        function = made(library.addresses[name])

        def run(times: int) -> None:
            for _ in range(times):
                function(start, count, mask)

        return best(run)

    memory = np.ones(SIZES[-1] + 64, np.uint8)
    start = address_of(memory) + -address_of(memory) % 64
    rates = {name: step.operations * TURNS / took(name, TURNS) for name, step in steps.items()}
    rates.setdefault("bfloat16", rates["float32"])
    widths = []
    for size in SIZES:
        count = max(size, LEAST)
        seconds = min(took("read", count, size - 1), took("copy", count // 2, size // 2 - 1))
        widths.append((size, count / seconds))
    return Peak(rates, tuple(widths))


class Step(NamedTuple):
    """A loop of arithmetic, and the operations of one turn."""

    text: str
    operations: int


def loops(machine: Target) -> dict[str, Step]:
    """The loops that are measured, by dtype; products of pairs where there are instructions."""
    found = {}
    for name, kind, size in (("float32", "float", 32), ("float64", "double", 64)):
        lanes = machine.bits // size
        vector = f"<{lanes} x {kind}>"
        call = (
            f"call {vector} @llvm.fma.v{lanes}f{size}({vector} %c{{0}}, {vector} %b, {vector} %b)"
        )
        if machine.name == "generic":  # no instruction does both
            call = f"fadd {vector} %p{{0}}, %b"
        found[name] = Step(arithmetic(name, vector, call), 2 * CHAINS * lanes)
    if machine.has_matrix:
        found["bfloat16"] = Step(by_unit("bfloat16"), 4 * SUMS * ROWS * ROWS * TERMS)
    elif machine.has_pairs:
        vector, pairs = "<16 x float>", "<32 x bfloat>"
        call = f"call {vector} @llvm.x86.avx512bf16.dpbf16ps.512({vector} %c{{0}}, "
        call += f"{pairs} %pairs, {pairs} %pairs)"
        found["bfloat16"] = Step(arithmetic("bfloat16", vector, call), 4 * CHAINS * 16)
    return found


def by_unit(name: str) -> str:
    """A loop of products by the matrix unit, into four registers by turns."""
    lines = [
        f"  call void @{INTRINSICS}tdpbf16ps(i8 {n}, i8 {SUMS + n // 2}, i8 {SUMS + 2 + n % 2})"
        for n in range(SUMS)
    ]
    head = [f"  %sizes = alloca <64 x i8>, align {WIDE}"]
    head += [f"  {line}" for line in configured("%sizes", *FULL)]
    head += [f"  call void @{INTRINSICS}tilezero(i8 {n})" for n in range(REGISTERS)]
    ends = [f"  call void @{INTRINSICS}tilerelease()"]
    text = written(name, [], lines, ends, 1)
    return text.replace("entry:", "\n".join(["entry:", *head]), 1)


def arithmetic(name: str, vector: str, call: str) -> str:
    """A loop of multiplications and additions of vectors, each chain on its own."""
    lines = []
    for n in range(CHAINS):
        if "%p{0}" in call:
            lines.append(f"  %p{n} = fmul {vector} %c{n}, %b")
        lines.append(f"  %n{n} = " + call.format(n))
    phis = [f"  %c{n} = phi {vector} [%b, %entry], [%n{n}, %turn]" for n in range(CHAINS)]
    ends = [f"  %s0 = fadd {vector} %n0, %n0"]
    ends += [f"  %s{n} = fadd {vector} %s{n - 1}, %n{n}" for n in range(1, CHAINS)]
    ends.append(f"  store {vector} %s{CHAINS - 1}, ptr %x")
    head = f"entry:\n  %b = load {vector}, ptr %x"
    if "%pairs" in call:
        head += f"\n  %pairs = bitcast {vector} %b to <32 x bfloat>"
    return written(name, phis, lines, ends, 1).replace("entry:", head)


def reading(bits: int) -> str:
    """A loop that reads bytes, and keeps what their bits have in common."""
    vector = f"<{bits // 32} x i32>"
    phis = [
        f"  %c{n} = phi {vector} [zeroinitializer, %entry], [%n{n}, %turn]" for n in range(UNROLLED)
    ]
    lines = []
    for n in range(UNROLLED):
        lines += place(n, bits)
        lines += [f"  %v{n} = load {vector}, ptr %at{n}", f"  %n{n} = xor {vector} %c{n}, %v{n}"]
    ends = [f"  %s0 = xor {vector} %n0, %n0"]
    ends += [f"  %s{n} = or {vector} %s{n - 1}, %n{n}" for n in range(1, UNROLLED)]
    ends.append(f"  store {vector} %s{UNROLLED - 1}, ptr %x")
    return written("read", phis, lines, ends, UNROLLED * bits // 8)


def copying(bits: int) -> str:
    """A loop that reads the first half of some memory, the mask long, and writes the second."""
    vector, lines = f"<{bits // 32} x i32>", ["  %half = add i64 %mask, 1"]
    for n in range(UNROLLED):
        lines += place(n, bits)
        lines += [
            f"  %v{n} = load {vector}, ptr %at{n}",
            f"  %to{n} = getelementptr i8, ptr %at{n}, i64 %half",
            f"  store {vector} %v{n}, ptr %to{n}",
        ]
    return written("copy", [], lines, [], UNROLLED * bits // 8)


def place(number: int, bits: int) -> list[str]:
    """The address of one vector of a turn: over and over the bytes of the mask."""
    return [
        f"  %r{number} = add i64 %i, {number * bits // 8}",
        f"  %o{number} = and i64 %r{number}, %mask",
        f"  %at{number} = getelementptr i8, ptr %x, i64 %o{number}",
    ]


def written(name: str, phis: list[str], lines: list[str], ends: list[str], step: int) -> str:
    """The text of one loop."""
    parts = {"phis": phis, "lines": lines, "ends": ends}
    return LOOP.format(name=name, step=step, **{k: "\n".join(v) for k, v in parts.items()})
