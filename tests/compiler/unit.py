"""A matrix unit in Python, so that its code runs on machines that have none.

Registers are as Intel's "Architecture Instruction Set Extensions" describes them for AMX. Whatever
is no proper use of them is noted in `Unit.faults`.
"""

import ctypes
import threading

import ml_dtypes
import numpy as np

from scull.compiler import matrix
from scull.runtime import llvm

REGISTER, WORD, ADDRESS = ctypes.c_uint8, ctypes.c_int64, ctypes.c_void_p
KINDS = {REGISTER: "i8", WORD: "i64", ADDRESS: "ptr"}
SIGNATURES = {
    "ldtilecfg": [ADDRESS],
    "tilerelease": [],
    "tilezero": [REGISTER],
    "tileloadd64": [REGISTER, ADDRESS, WORD],
    "tilestored64": [REGISTER, ADDRESS, WORD],
    "tdpbf16ps": [REGISTER] * 3,
}
PREFIX = "unit_"


class Unit:
    """Eight registers of 16 rows of 64 bytes for each thread, and what was done with them."""

    def __init__(self):
        self.faults, self.steps, self.products, self.threads = [], set(), [], {}

    @property
    def registers(self):
        """The registers of this thread."""
        return self.threads[threading.get_ident()][1]

    @property
    def sizes(self):
        """Rows and bytes of the registers of this thread."""
        return self.threads.get(threading.get_ident(), ([], None))[0]

    def ldtilecfg(self, at):
        """Set the sizes of all registers, which are 0 from then on."""
        text = ctypes.string_at(at, 64)
        if text[0] != 1 or any(text[1:16]) or any(text[32:48]) or any(text[56:]):
            self.faults.append("reserved bytes")
        wide = np.frombuffer(text[16:32], "<u2").tolist()
        sizes = list(zip(text[48:56], wide, strict=True))
        if any(rows > 16 or wide > 64 or (not rows) != (not wide) for rows, wide in sizes):
            self.faults.append(f"sizes {sizes}")
        self.threads[threading.get_ident()] = sizes, np.zeros((8, 16, 64), np.uint8)

    def tilerelease(self):
        """Forget the sizes."""
        del self.threads[threading.get_ident()]

    def size(self, register):
        """Rows and bytes of a register that has some."""
        rows, wide = self.sizes[register] if self.sizes else (0, 0)
        if not rows or not wide:
            self.faults.append(f"register {register} has no size")
        return rows, wide

    def tilezero(self, register):
        """A register of zeros."""
        self.size(register)
        self.registers[register] = 0

    def tileloadd64(self, register, at, apart):
        """Read the rows of a register."""
        rows, wide = self.size(register)
        self.registers[register] = 0
        self.steps.add(apart)
        for n in range(rows):
            row = np.frombuffer(ctypes.string_at(at + n * apart, wide), np.uint8)
            self.registers[register, n, :wide] = row

    def tilestored64(self, register, at, apart):
        """Write the rows of a register."""
        rows, wide = self.size(register)
        for n in range(rows):
            ctypes.memmove(at + n * apart, self.registers[register, n].tobytes(), wide)

    def tdpbf16ps(self, sums, x, y):
        """Add the products of the pairs of two registers."""
        (rows, wide), (left, pairs), (terms, lanes) = (self.size(n) for n in (sums, x, y))
        if len({sums, x, y}) < 3 or rows != left or wide != lanes or pairs != 4 * terms or wide % 4:
            self.faults.append(f"sizes {self.sizes} of {sums}, {x}, {y}")
        self.products.append((rows, wide // 4, terms))
        a = self.registers[x, :rows, :pairs].copy().view(ml_dtypes.bfloat16)
        b = self.registers[y, :terms, :wide].copy().view(ml_dtypes.bfloat16)
        a = a.reshape(rows, terms, 2).astype(np.float32)
        b = b.reshape(terms, wide // 4, 2).astype(np.float32)
        with np.errstate(invalid="ignore"):
            more = np.einsum("ikp,kjp->ij", a, b)
            found = self.registers[sums, :rows, :wide].copy().view(np.float32) + more
        self.registers[sums, :rows, :wide] = found.view(np.uint8)


def emulated(monkeypatch):
    """A unit that code for the level `amx` uses from now on, and what has to live as long.

    Its `products` are how many rows, lanes and terms each had.
    """
    unit = Unit()
    types = {name: ctypes.CFUNCTYPE(None, *kinds) for name, kinds in SIGNATURES.items()}
    calls = {PREFIX + name: kind(getattr(unit, name)) for name, kind in types.items()}
    imports = {name: ctypes.cast(x, ADDRESS).value for name, x in calls.items()}
    declared = [
        f"declare void @{PREFIX}{name}({', '.join(KINDS[x] for x in kinds)})"
        for name, kinds in SIGNATURES.items()
    ]
    compiled, linked = llvm.object_code, llvm.link

    def object_code(text, target=None):
        return compiled("\n".join([text, *declared] if PREFIX in text else [text]), target)

    def link(codes, exports, given=None):
        return linked(codes, exports, {**imports, **(given or {})})

    monkeypatch.setattr(matrix, "INTRINSICS", PREFIX)
    monkeypatch.setattr(llvm, "object_code", object_code)
    monkeypatch.setattr(llvm, "link", link)
    monkeypatch.setattr(llvm, "levels", lambda: ("amx", "avx512bf16", "avx512", "avx2", "generic"))
    monkeypatch.setitem(llvm.LEVELS, "amx", ("x86-64-v4", ()))
    return unit, calls
