"""Writing in place costs nothing until it happens.

A change is a tick, compared with those of nodes made before.
"""

import weakref
from typing import Any

from numpy import ndarray

from scull.core.tensor import tick
from scull.errors import InPlaceError

# id of the memory's owner -> tick and name of its last change, and how many there were
changes: dict[int, tuple[int, str, int]] = {}
last_change = [0]


def owner(array: Any) -> Any:
    """The array that owns the memory of `array`."""
    while isinstance(array.base, ndarray):
        array = array.base
    return array


def changed(array: Any, how: str) -> None:
    """Note that the memory of `array` was overwritten by the operation `how`."""
    memory = owner(array)
    key = id(memory)
    if key not in changes:
        weakref.finalize(memory, changes.pop, key, None)
    changes[key] = (tick(), how, changes_of(array) + 1)
    last_change[0] = changes[key][0]


def changes_of(array: Any) -> int:
    """How often the memory of `array` was overwritten."""
    return changes.get(id(owner(array)), (0, "", 0))[2]


def check_versions(node: Any) -> None:
    """Refuse when something `node` saved was overwritten after it was made."""
    for name, value in zip(node.op.kept, node.saved, strict=False):
        for v in value if type(value) is list else [value]:
            if isinstance(v, ndarray):
                when, how, count = changes.get(id(owner(v)), (0, "", 0))
                if when < node.order:
                    raise InPlaceError(
                        f"the gradient of `{node.op.name}` needs its `{name}`, "
                        f"which `{how}` changed in place afterwards (received tensor_version:"
                        f"{count} != wrapper_version_snapshot:{count - 1 and 'an older one'})"
                    )
