"""Writing in place costs nothing until it happens.

A change is a tick, compared with those of nodes made before.
"""

import weakref
from collections import deque
from typing import Any

from numpy import ndarray

from scull.core.memory import owner
from scull.core.op import Op
from scull.core.rule import names_of
from scull.core.tensor import tick
from scull.errors import InPlaceError

RECENT = 16  # changes of one memory whose ticks are kept


class Changes:
    """How often one memory was changed, when it was overwritten of late, and how last."""

    __slots__ = ("count", "how", "ticks")

    def __init__(self) -> None:
        self.count, self.how, self.ticks = 0, "", deque[int](maxlen=RECENT)

    def add(self, how: str, writes: int) -> None:
        """Note one more, which counts as so many `writes`."""
        self.count, self.how = self.count + writes, how
        self.ticks.extend([tick() for _ in range(min(writes, RECENT))])


changes: dict[int, Changes] = {}  # by the id of the memory's owner
last_change = [0]


def record_of(array: Any) -> Changes:
    """What is noted of the memory of `array`, from now on if nothing was."""
    memory = owner(array)
    key = id(memory)
    if key not in changes:
        weakref.finalize(memory, changes.pop, key, None)
        changes[key] = Changes()
    return changes[key]


def changed(array: Any, how: str, writes: int = 1) -> None:
    """Note that the memory of `array` was overwritten by the operation `how`."""
    record = record_of(array)
    record.add(how, writes)
    last_change[0] = record.ticks[-1]


def succeeded(array: Any, own: Any, how: str, writes: int) -> None:
    """Note that `array` is now what a tensor with `own` holds: nothing saved was overwritten."""
    count = changes_of(own)
    record = record_of(array)
    record.count, record.how = record.count + count + writes, how


def changes_of(array: Any) -> int:
    """How often the memory of `array` was overwritten."""
    found = changes.get(id(owner(array)))
    return found.count if found else 0


def check_versions(node: Any) -> None:
    """Refuse when something `node` saved was overwritten after it was made."""
    for name, value in zip(node.op.kept, node.saved, strict=False):
        for v in value if type(value) is list else [value]:
            found = changes.get(id(owner(v))) if isinstance(v, ndarray) else None
            later = sum([t < node.order for t in found.ticks]) if found else 0
            if found and later and is_wanted(node, name):
                then = found.count - later if later < RECENT else f"at most {found.count - RECENT}"
                raise InPlaceError(
                    f"the gradient of `{node.op.name}` needs its `{name}`, which `{found.how}` "
                    f"changed in place afterwards (received tensor_version:{found.count} != "
                    f"wrapper_version_snapshot:{then})"
                )


def is_wanted(node: Any, name: str) -> bool:
    """Whether the gradients that are sent on from `node` depend on what it saved as `name`."""
    op, edges = node.op, node.edges
    if not isinstance(op, Op) or op.lists or not op.rules:
        return True
    wanted = {n for n, edge in zip(op.inputs, edges, strict=False) if edge is not None}
    named = [names_of(rule) for inputs, rule in op.rules.items() if wanted & set(inputs)]
    return any(op.up.get(name, name) in names for names in named)
