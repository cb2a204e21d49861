"""What a region became is kept on disk: one seen before is linked, without thinking it over again.

An entry is named by all that decides what code there is: what the region says, what this compiler
is made of, LLVM and the CPU. It lists the object files, which have entries of their own.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

from scull.compiler.target import target
from scull.flags import flag
from scull.lang.expression import Apply, Array, Axis, Constant, Expression, Load, Reduce
from scull.lang.walk import ordered
from scull.runtime import llvm
from scull.runtime.object_cache import key_of, object_cache

OURS = Path(__file__).resolve().parent.parent
ASKED = ("WINOGRAD", "TUNE", "FLUSH")  # flags that decide about code
TOLD = frozenset({"origin"})  # facts that words are made of, never code


@dataclass(frozen=True)
class Recalled:
    """The code of a region, the numbers of the inputs it reads, the bytes of its arena and of what
    lasts from run to run.
    """

    library: llvm.Library
    used: tuple[int, ...]
    arena: int
    lasts: int


def name_of(*parts: Any) -> bytes:
    """The name of the entry for what a region says."""
    return named(Saying().of(parts), "compiler", "lang", "runtime")


def named(said: str, *packages: str) -> bytes:
    """The name of an entry for what is said to some packages of ours, on this machine."""
    machine, level = llvm.host(), target().name
    asked = repr([flag(name) for name in ASKED])
    return key_of(
        said, asked, sources(packages), level, machine.version, machine.cpu, machine.features
    )


def recalled(name: bytes, imports: Mapping[str, int]) -> Recalled | None:
    """What is kept under a name, if all of it still is there; it calls `imports`."""
    listed = object_cache().find(name)
    if listed is None:
        return None
    entry = json.loads(listed)
    codes = [object_cache().find(bytes.fromhex(key)) for key in entry["codes"]]
    if None in codes:
        return None
    found = [code for code in codes if code is not None]
    library = llvm.link(found, entry["exports"], imports)
    return Recalled(library, tuple(entry["used"]), entry["arena"], entry["lasts"])


def keep(name: bytes, modules: Sequence[llvm.Module], found: Recalled) -> None:
    """Keep what a region became."""
    entry = {
        "codes": [llvm.code_key(module.text).hex() for module in modules],
        "exports": [x for module in modules for x in module.exports],
        "used": list(found.used),
        "arena": found.arena,
        "lasts": found.lasts,
    }
    object_cache().keep(name, json.dumps(entry).encode())


@cache
def sources(packages: tuple[str, ...]) -> str:
    """What some packages of ours are made of."""
    digest = hashlib.sha256()
    for package in packages:
        for path in sorted((OURS / package).glob("*.py")):
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


class Saying:
    """Writes what decides about code as text: arrays and nodes are numbered as they come."""

    def __init__(self) -> None:
        self.numbers: dict[Any, int] = {}
        self.parts: list[str] = []

    def of(self, value: Any) -> str:
        """All of a value."""
        self.parts.append(self.word(value))
        return "\n".join(self.parts)

    def word(self, value: Any) -> str:
        """A value in a word; what it consists of has been written before."""
        if isinstance(value, Expression):
            return self.node(value)
        if isinstance(value, Array):
            return self.array(value)
        if isinstance(value, list | tuple):
            return f"[{' '.join(map(self.word, value))}]"
        if isinstance(value, dict):
            return self.word(list(value.items()))
        if is_dataclass(value):
            told = (getattr(value, f.name) for f in fields(value) if f.name not in TOLD)
            return f"{type(value).__name__}{self.word(list(told))}"
        assert value is None or isinstance(value, bool | int | float | str), value
        return repr(value)

    def array(self, array: Array) -> str:
        """The number of an array; what it is called does not matter."""
        if array not in self.numbers:
            self.numbers[array] = len(self.numbers)
            self.parts.append(f"{array.dtype}{array.shape}")
        return f"a{self.numbers[array]}"

    def node(self, root: Expression) -> str:
        """The number of an expression."""
        numbers = self.numbers
        for node in ordered([root], known=numbers.__contains__):
            operands = [numbers[x] for x in node.operands]
            match node:
                case Apply(operation=name):
                    said = f"{name} {node.dtype}{operands}"
                case Load(array=array):
                    said = f"{self.array(array)}{operands}"
                case Axis(size=size):
                    said = f"axis {size}"
                case Constant(value=value):
                    said = f"{value!r} {node.dtype}"
                case Reduce(operation=name, axes=axes):
                    over = [self.node(x) for x in axes]  # one of size 1 may occur nowhere else
                    said = f"{name} over {over} {node.dtype}{operands}"
                case _:
                    said = f"{type(node).__name__} {node.dtype}{operands}"
            numbers[node] = len(numbers)
            self.parts.append(said)
        return str(numbers[root])
