"""Running sums of a parameter, of which its average over a window of steps is made."""

from typing import Any

from scull import lang
from scull.core.attribute import Long
from scull.core.eager import primitive
from scull.core.meta import Meta
from scull.errors import DtypeError, ShapeError
from scull.ops.update import check_single, same_shape, single
from scull.ops.workspace import places

LONGEST = 16384  # steps after which a sum is carried over, so that small terms still count
NAMES = ("sum_1", "sum_2", "sum_3", "num_accumulates", "old_num_accumulates", "num_updates")


@primitive(
    outputs=tuple("out_" + n for n in NAMES),
    in_place={"out_" + n: "in_" + n for n in NAMES},
    slots={"param": "param"} | {s + n: s + n for n in NAMES for s in ("in_", "out_")},
    infer_first=True,
)
def average_accumulates(
    param: Meta,
    in_sum_1: Meta,
    in_sum_2: Meta,
    in_sum_3: Meta,
    in_num_accumulates: Meta,
    in_old_num_accumulates: Meta,
    in_num_updates: Meta,
    *,
    average_window: float = 0.0,
    max_average_window: Long = 2**63 - 1,
    min_average_window: Long = 10000,
) -> tuple[Meta, ...]:
    """The sums with `param` added; a window that is full becomes the third of them.

    It is full after `min_average_window` steps at least, and after as many as the share
    `average_window` of all or `max_average_window`.
    """
    sums = {"in_sum_1": in_sum_1, "in_sum_2": in_sum_2, "in_sum_3": in_sum_3}
    for name, m in sums.items():
        if m.dtype is not param.dtype:
            raise DtypeError(f"{name} is {m.dtype.name} and param is {param.dtype.name}")
        if not same_shape(m.shape, param.shape):
            raise ShapeError(f"{name} is {m} and param is {param}: their shapes differ")
    counts = {
        "in_num_accumulates": in_num_accumulates,
        "in_old_num_accumulates": in_old_num_accumulates,
        "in_num_updates": in_num_updates,
    }
    check_single(**counts)
    for name, m in counts.items():
        if not m.dtype.is_integer:
            raise DtypeError(f"{name} is {m.dtype.name}, not an integer")
    return (*sums.values(), *counts.values())


@average_accumulates.kernel
def average_accumulates_kernel(
    xp: Any,
    param: Any,
    *states: Any,
    out: Any = None,
    average_window: float,
    max_average_window: int,
    min_average_window: int,
) -> Any:
    found = sum_1, sum_2, sum_3, steps, old_steps, updates = places(states, out)
    updates += 1
    steps += 1
    sum_1 += param
    if updates.item() % LONGEST == 0:
        sum_2 += sum_1
        sum_1[...] = 0
    window = min(max_average_window, int(updates.item() * average_window))
    if steps.item() >= max(min_average_window, window):
        sum_3[...] = sum_1 + sum_2
        sum_1[...] = sum_2[...] = 0
        old_steps[...] = steps
        steps[...] = 0
    return tuple(found)


@average_accumulates.lower
def average_accumulates_at(
    index: Any,
    param: Any,
    sum_1: Any,
    sum_2: Any,
    sum_3: Any,
    steps: Any,
    old_steps: Any,
    updates: Any,
    average_window: float,
    max_average_window: int,
    min_average_window: int,
) -> Any:
    spot, old = index[0], single(old_steps, "int64")
    now, all_steps = (single(x, "int64") + 1 for x in (steps, updates))
    share = lang.cast(lang.cast(all_steps, "float64") * average_window, "int64")
    window = lang.minimum(share, lang.constant(max_average_window, "int64"))
    full = now >= lang.maximum(window, lang.constant(min_average_window, "int64"))
    carries, zero = lang.equal(all_steps % LONGEST, 0), lang.constant(0, param.dtype)
    first, second = sum_1[spot] + param[spot], sum_2[spot]
    second = lang.select(carries, second + first, second)
    first = lang.select(carries, zero, first)
    counts = (lang.select(full, lang.constant(0, "int64"), now), lang.select(full, now, old))
    return (
        lang.select(full, zero, first),
        lang.select(full, zero, second),
        lang.select(full, first + second, sum_3[spot]),
        *[lang.cast(x, steps.dtype) for x in (*counts, all_steps)],
    )


average_accumulates.no_grad("it ends a step of training")
