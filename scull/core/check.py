"""Checks of numbers: what results hold, and the first operator that made NaN or infinity."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from scull.core import session
from scull.core.around import Surrounding, release, surround
from scull.core.dtype import bfloat16, of_array
from scull.core.leaf import leaves
from scull.core.op import Op
from scull.core.operand import weak_meta
from scull.core.refusal import situation, user_line
from scull.core.tensor import Rows, Tensor
from scull.errors import NumberError, located
from scull.flags import PADDLE

ABORT, REPORT, OVERFLOW, ALL = range(4)  # what FLAGS_check_nan_inf_level asks for
LARGEST_HALF = 65504.0
SHORT = {"float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64"}


class Statistics(NamedTuple):
    """What numbers are among the elements of an array; the extremes are of all but NaN."""

    size: int
    nans: int
    infinities: int
    zeros: int
    largest: float
    least: float
    mean: float
    finite: tuple[float, float, float]  # the least, the largest and the mean of the finite ones


def statistics(array: Any) -> Statistics:
    """The statistics of an array of floating-point or complex numbers, these by their modulus."""
    x = array
    if x.dtype.kind == "c":
        x = np.abs(x)
    elif x.dtype.kind == "V":
        x = x.astype(np.float32)
    nans, finite = np.isnan(x), x[np.isfinite(x)]
    nan = float("nan")
    some = finite.size > 0
    ends = (finite.min(), finite.max(), finite.mean(dtype=np.float64)) if some else (nan,) * 3
    return Statistics(
        x.size,
        int(nans.sum()),
        int(np.isinf(x).sum()),
        int((x == 0).sum()),
        float(np.fmax.reduce(x, axis=None)) if x.size else nan,
        float(np.fmin.reduce(x, axis=None)) if x.size else nan,
        float(x.mean(dtype=np.float64)) if x.size else nan,
        (float(ends[0]), float(ends[1]), float(ends[2])),
    )


def has_numbers(value: Any) -> bool:
    """Whether a value is an array that can hold NaN."""
    return isinstance(value, np.ndarray) and (
        value.dtype.kind in "fc" or value.dtype == bfloat16.array
    )


class Choice(NamedTuple):
    """Which operators are checked, by name or type, and the folder that lines are written to."""

    checked: frozenset[str] = frozenset()  # all when empty
    skipped: frozenset[str] = frozenset()
    folder: str = ""  # they are printed when it is empty

    def takes(self, names: set[str]) -> bool:
        """Whether an operator of these names is checked."""
        return not names & self.skipped and (not self.checked or bool(names & self.checked))


EVERY = Choice()


def choice() -> Choice:
    """Which operators are checked now."""
    found: Choice = session.get("checked") or EVERY
    return found


def numbers(op: Any, results: Any, name: str, shown: str, note: Any = None) -> None:
    """Look at the arrays among the results of an operator, as the flags say.

    `name` is the variable, `shown` what reports call the operator, `note` gives what an error tells
    besides.
    """
    if choice().takes({op.name, getattr(op, "type", ""), shown}):
        for array in arrays(results):
            examine(array, shown, name, int(PADDLE["FLAGS_check_nan_inf_level"]), note)


def examine(array: Any, operator: str, name: str, level: int, note: Any = None) -> None:
    """Report what `array` holds, as far as `level` asks; NumberError when that says abort."""
    if level < OVERFLOW and np.isfinite(array).all():
        return
    found = statistics(array)
    wrong = found.nans or found.infinities
    if wrong and level == ABORT:
        error = NumberError(refusal(found, where(array, operator, name)))
        if note is not None:
            located(error, note())
        raise error
    over = array.dtype == np.float32 and max(found.largest, -found.least) > LARGEST_HALF
    if wrong or level == ALL or (level == OVERFLOW and over):
        write(row(found, where(array, operator, name)))


def where(array: Any, operator: str, name: str) -> str:
    """Whose numbers they are, as Paddle's lines say it."""
    dtype = of_array(array.dtype).name
    return f"[device=cpu, op={operator}, tensor={name}, dtype={SHORT.get(dtype, dtype)}]"


def refusal(found: Statistics, whose: str) -> str:
    """The message about NaN and infinity, with statistics."""
    counts = f"num_nan={found.nans}, num_inf={found.infinities}, num_zero={found.zeros}"
    left = found.size - found.nans - found.infinities
    least, largest, mean = found.finite
    rest = f"from {least:g} to {largest:g}, {mean:g} on average" if left else "none"
    return f"There are NAN or INF ({counts}) in {whose}; finite are {left} of {found.size}: {rest}"


def row(found: Statistics, whose: str) -> str:
    """One line of a report."""
    wrong = found.nans or found.infinities
    counts = f"num_nan={found.nans}, num_inf={found.infinities}, " if wrong else ""
    ends = f"max={found.largest:.6e}, min={found.least:.6e}, mean={found.mean:.6e}"
    word = "[PRECISION] [ERROR]" if wrong else "[PRECISION]"
    return f"{word} in {whose}, numel={found.size}, {counts}num_zero={found.zeros}, {ends}"


def write(line: str) -> None:
    """Print a line, or add it to the file of the folder that was chosen."""
    folder = choice().folder
    if not folder:
        print(line, flush=True)
        return
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    with (path / "worker_cpu").open("a", encoding="utf-8") as file:
        file.write(line + "\n")


# ---- every result of eager mode ----


class Count(threading.local):
    """How many operators of this thread were looked at."""

    number = 0


_count = Count()


def arrays(values: Any) -> Iterator[Any]:
    """The arrays with numbers among results."""
    for v in leaves(values if isinstance(values, list | tuple) else (values,)):
        array = v.array if isinstance(v, Tensor) else v
        array = array.values if isinstance(array, Rows) else array
        if has_numbers(array):
            yield array


def checked(apply: Any, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    """Apply an operator and look at its results; of one made of others, those were looked at."""
    before = _count.number
    found = apply(op, inputs, attrs)
    if _count.number == before:
        _count.number += 1
        numbers(
            op, found, "", op.name, lambda: situation(op, tuple(map(meta, inputs)), user_line())
        )
    return found


def meta(x: Any) -> Any:
    """The meta of an operand; None of what has none."""
    return weak_meta(x) if isinstance(x, Tensor) else None


def pulled(pull: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """`pull` with a look at the gradients it gives."""

    def pulling(node: Any, dout: Any) -> Any:
        before = _count.number
        found = pull(node, dout)
        if _count.number == before:
            _count.number += 1
            name = f"{node.op.name}_grad"
            numbers(node.op, list(found), "", name, lambda: f"in {name}\n  at {user_line()}")
        return found

    return pulling


CHECK = Surrounding(checked, pulled)


def follow() -> None:
    """Check the results of eager mode from now on, or no more, as FLAGS_check_nan_inf says."""
    release(CHECK)
    if PADDLE["FLAGS_check_nan_inf"]:
        surround(CHECK)
