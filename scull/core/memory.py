"""How much memory there is: of the machine, and of the control groups this process runs in."""

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from scull.core.meta import Meta, known
from scull.core.op import Op
from scull.core.operand import meta_or_none, padded
from scull.errors import ResourceError

LARGEST = 2**47  # bytes that a process can address
BEYOND = 2**100  # bytes: more than all there are
LARGE = 2**26  # bytes: what takes less is made without asking
UNLIMITED = 1 << 60  # version 1 of cgroups writes a number this large for no limit
FILES = (  # of a control group: its limit, what is used of it, and what of that can be given back
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


def size(meta: Meta) -> int:
    """The bytes that the elements of `meta` take, where empty axes count as one element.

    Of what nobody could have it is less: a number that can still be told.
    """
    total: int = meta.dtype.itemsize
    for n in meta.shape:
        total *= max(n, 1)
        if total > BEYOND:
            break
    return total


def owner(array: Any) -> Any:
    """The array that owns the memory of `array`."""
    base = array.base
    while base is not None:  # between arrays stand objects that hold them, as of strided views
        if isinstance(base, np.ndarray):
            array = base
        base = getattr(base, "base", None)
    return array


def refuse_larger(op: Op, inputs: Any, attrs: dict[str, Any]) -> None:
    """Refuse results for which there is no room, before anything of them is taken."""
    first = inputs[0] if inputs else None
    asked = first.size if isinstance(first, np.ndarray) else 1
    for name in op.enlarges:
        given = attrs[name]
        for n in given if isinstance(given, list | tuple) else (given,):
            asked *= abs(n) or 1 if isinstance(n, int) else 1
    if asked > LARGE >> 4:  # elements of 16 bytes
        metas = op.infer(tuple(map(meta_or_none, padded(op, tuple(inputs)))), attrs)
        for m in metas:
            if isinstance(m, Meta) and known(m.shape):
                refuse_bytes(size(m), f"a result {m}")


def refuse_bytes(wanted: int, what: str) -> None:
    """Refuse `what` where it takes more bytes than are free."""
    if wanted > LARGE and wanted > free():
        raise ResourceError(f"{what} takes {wanted} bytes, {free()} are free")


@cache
def memory() -> int:
    """The bytes of memory this process may have, as far as the system says so."""
    limit = memory_limit(Path("/")) or LARGEST
    if "SC_PHYS_PAGES" not in getattr(os, "sysconf_names", ()):
        return limit
    return min(limit, int(os.sysconf("SC_PAGE_SIZE")) * int(os.sysconf("SC_PHYS_PAGES")))


def free(root: Path = Path("/")) -> int:
    """The bytes of memory this process can still take; `root` is where `proc` and `sys` are."""
    found = [room for _, room in limits(root)]
    machine = words(root / "proc/meminfo")
    if "MemAvailable:" in machine:
        found.append(int(machine[machine.index("MemAvailable:") + 1]) * 1024)
    return max(min(found, default=memory()), 0)


def memory_limit(root: Path) -> int | None:
    """The bytes the control groups of this process allow."""
    return min([limit for limit, _ in limits(root)], default=None)


def limits(root: Path) -> Iterator[tuple[int, int]]:
    """Of each control group with a limit: the limit, and what can still be taken of it."""
    for folder in control_groups(root, "memory"):
        for limit, usage, spare in FILES:
            found = words(folder / limit)
            if found and found[0] != "max" and int(found[0]) < UNLIMITED:
                used, facts = words(folder / usage), words(folder / "memory.stat")
                kept = int(facts[facts.index(spare) + 1]) if spare in facts else 0
                yield int(found[0]), int(found[0]) - (int(used[0]) if used else 0) + kept


def control_groups(root: Path, controller: str) -> Iterator[Path]:
    """The folders of the control groups that hold this process, innermost first."""
    groups = root / "proc/self/cgroup"
    for line in groups.read_text(encoding="utf-8").splitlines() if groups.is_file() else ():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(",") or not controllers:
            top = root / "sys/fs/cgroup" / controllers
            inner = top / path.lstrip("/")
            yield inner
            yield from (parent for parent in inner.parents if parent.is_relative_to(top))


def words(path: Path) -> list[str]:
    """The words of a file; none where there is no file."""
    return path.read_text(encoding="utf-8").split() if path.is_file() else []
