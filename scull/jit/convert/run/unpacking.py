"""`a, b = values` and `a, *b = values`, where a Program may know how many there are."""

from typing import Any

from scull.ir.variable import Variable
from scull.jit.convert.run.indexed import indexed, is_unknown
from scull.jit.convert.run.refusal import refused
from scull.jit.convert.run.value import is_array
from scull.ops.python import assert_true
from scull.static.growing import part


def unpacked(values: Any, before: int, after: int | None = None) -> Any:
    """As many values as names take them: `before` a starred one, which takes a list, and `after`.

    Without a starred name `after` is None.
    """
    if isinstance(values, Variable) and is_unknown(values):
        return of_program(values, before, after)
    if after is None:
        return values
    held = list(values)
    if len(held) < before + after:
        raise ValueError(
            f"not enough values to unpack (expected at least {before + after}, got {len(held)})"
        )
    end = len(held) - after
    return [*held[:before], held[before:end], *held[end:]]


def of_program(values: Variable, before: int, after: int | None) -> list[Any]:
    """The same of a list of tensors, or of rows, whose number only a run knows."""
    rows, count = indexed(values), before + (after or 0)
    length = rows.length
    fits = length == count if after is None else length >= count
    least = "" if after is None else "at least "
    assert_true(fits, [length], message=f"{least}{count} values are needed to unpack")
    found = [rows.item(i) for i in range(before)]
    if after is None:
        return found
    if not is_array(values):
        raise refused(f"`{values.name}` has rows, of which a list takes some", "slice it")
    rest = part(values, before, -after if after else None)
    return [*found, rest, *(rows.item(length - after + i) for i in range(after))]
