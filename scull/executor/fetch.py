"""What users fetch: the variables and updates that a fetch list means, and their values."""

from typing import Any

import numpy as np

from scull.core.tensor import Rows
from scull.errors import ArgumentTypeError
from scull.ir.operator import Operator
from scull.ir.program import Program
from scull.ir.variable import Variable
from scull.runtime.scope import Cell, ScopeTensor

OPTIMIZE = 2  # the role of operators that update


def listed(fetch_list: Any) -> tuple[Any, ...]:
    """What is to be fetched, as a tuple."""
    if fetch_list is None:
        return ()
    if isinstance(fetch_list, str | Variable | Operator):
        return (fetch_list,)
    if not isinstance(fetch_list, list | tuple):
        raise ArgumentTypeError(
            "Currently , The fetch_list type only should be list or tuple, but the input type is "
            f"{type(fetch_list)}."
        )
    return tuple(fetch_list)


def flattened(entries: Any) -> list[Any]:
    """`entries` with those of lists within in line; of what `minimize` returned, the operators."""
    found: list[Any] = []
    for v in entries:
        minimized = isinstance(v, tuple) and v and isinstance(v[0], list)
        found.extend(flattened(v[:1] if minimized else v) if isinstance(v, list | tuple) else [v])
    return found


def fetch_name(entry: Any) -> str:
    """The name one entry of a fetch list means."""
    name = entry if isinstance(entry, str) else getattr(entry, "name", None)
    if not isinstance(name, str):
        raise ArgumentTypeError(
            "The item in fetch_list should be str, variable or optimize_op, but received "
            f"{type(entry)}."
        )
    return name


def targets(fetches: Any) -> tuple[tuple[str, ...], list[Operator]]:
    """The names of the variables among `fetches`, and the operators that update."""
    entries = flattened(fetches)
    updates = [v for v in entries if isinstance(v, Operator)]
    for v in updates:
        if not v.role & OPTIMIZE:
            raise ArgumentTypeError(
                f"The operator in fetch_list is not an optimize_op: `{v.type}` at {v.line}; "
                "fetch its results"
            )
    return tuple(fetch_name(v) for v in entries if not isinstance(v, Operator)), updates


def fetched_by(program: Program) -> tuple[str, ...]:
    """What the fetch operators of a loaded Program fetch, in their order."""
    found = [o for o in program.global_block().ops if o.type in ("fetch", "fetch_v2")]
    found.sort(key=lambda o: o.spelt().get("col", 0))
    return tuple(v.name for o in found for v in o.operands())


def delivered(value: Any, copy: bool, return_numpy: bool) -> Any:
    """A value of a frame as users get it; never an array that somebody else writes to."""
    if type(value) is Rows:
        return value
    if type(value) is list:
        return [delivered(v, copy, return_numpy) for v in value]
    if type(value) is not np.ndarray and value is not None:
        value = np.array(value)
    elif copy and value is not None:
        value = value.copy()
    return value if return_numpy else ScopeTensor(Cell("", value))
