"""Samples: calls of an operator, which are all its author writes as tests.

    @samples("relu")
    def relu_samples():
        yield call(f32(3, 4))
        yield fails(DtypeError, "x is bool", boolean(3))

Makers give arrays of a shape whose elements are random, no two alike and none near zero, so that
sorting, maxima and numeric gradients are certain. They are seeded by operator and place: every run
has the same.
"""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import Any

import ml_dtypes
import numpy as np

from scull.core.tensor import Rows


@dataclass(frozen=True, eq=False)
class Sample:
    """One call of an operator and what is known of it.

    `reference` computes the results from the inputs in float64, and from those attributes it has
    parameters for. `holds` is given the results (one, or a tuple) and asserts what is true of them,
    for operators whose results are random. `grad` is False, or names the inputs whose gradients are
    compared with numeric ones. A sample with `error` must fail with it, `law` in the message; where
    the mistake lies in the elements of an input (`by_value`), only when it is computed.
    Without `unknown_sizes` the type rule needs them all. Nobody can write into the inputs.
    """

    inputs: tuple[Any, ...]
    attrs: dict[str, Any]
    reference: Callable[..., Any] | None = None
    holds: Callable[[Any], None] | None = None
    grad: bool | tuple[str, ...] = True
    case: str = ""
    error: type[Exception] | None = None
    law: str = ""
    by_value: bool = False
    unknown_sizes: bool = True
    kind: tuple[Any, ...] = field(init=False)

    def __post_init__(self) -> None:
        for x in self.inputs:
            freeze(x)
        spelt = [f"{n}={v!r}" for n, v in sorted(self.attrs.items())]
        operands = [sort_of(x) for x in self.inputs]
        found = (
            (self.case, self.error, self.law) if self.case or self.error else (*operands, *spelt)
        )
        object.__setattr__(self, "kind", found)

    def __str__(self) -> str:
        operands = ", ".join(map(shown, self.inputs))
        attrs = "".join(f", {n}={v!r}" for n, v in self.attrs.items())
        return (f"{self.case}: " if self.case else "") + f"({operands}{attrs})"


def freeze(x: Any) -> None:
    """Make arrays read-only."""
    parts = x if isinstance(x, list | tuple) else [x.rows, x.values] if isinstance(x, Rows) else ()
    for v in parts:
        freeze(v)
    if isinstance(x, np.ndarray):
        x.flags.writeable = False


def shown(x: Any) -> str:
    """An input as messages show it: its element type and shape."""
    if isinstance(x, list | tuple):
        return "[" + ", ".join(map(shown, x)) + "]"
    if x is None or isinstance(x, bool | int | float | complex):
        return repr(x)
    sparse = "rows " if isinstance(x, Rows) else ""
    return f"{sparse}{x.dtype.name}[{', '.join(map(str, x.shape))}]"


def sort_of(x: Any) -> Any:
    """What is particular about an input: element type, axes, sizes 0 and 1, gaps in memory."""
    if isinstance(x, list | tuple):
        return tuple(sort_of(v) for v in x)
    if not isinstance(x, np.ndarray):
        return type(x).__name__
    return x.dtype.name, x.ndim, 0 in x.shape, 1 in x.shape, x.flags.c_contiguous


SAMPLES: dict[str, Callable[[], list[Sample]]] = {}  # by our name of the operator


class Place:
    """Where a maker is called: the operator, and how many arrays were made for it before."""

    def __init__(self) -> None:
        self.start("")

    def start(self, name: str) -> None:
        """Number anew for the operator called `name`."""
        self.key, self.numbers = zlib.crc32(name.encode()), count()

    def random(self) -> np.random.Generator:
        """A generator of this place alone."""
        return np.random.default_rng([self.key, next(self.numbers)])


PLACE = Place()


def samples(name: str, *, reference: Callable[..., Any] | None = None) -> Any:
    """Register the samples of operator `name`; `reference` is that of calls which give none."""

    def register(function: Callable[[], Iterator[Sample]]) -> Any:
        assert name not in SAMPLES, f"`{name}` has samples already"

        def made() -> list[Sample]:
            PLACE.start(name)
            return [with_reference(s, reference) for s in function()]

        SAMPLES[name] = made
        return function

    return register


def with_reference(sample: Sample, reference: Callable[..., Any] | None) -> Sample:
    """`sample` compared with `reference`, unless it says how it is to be judged."""
    if sample.error or sample.reference or sample.holds or reference is None:
        return sample
    return replace(sample, reference=reference)


def call(
    *inputs: Any,
    reference: Callable[..., Any] | None = None,
    holds: Callable[[Any], None] | None = None,
    grad: bool | tuple[str, ...] = True,
    unknown_sizes: bool = True,
    name_of_case: str = "",
    **attrs: Any,
) -> Sample:
    """A call that succeeds."""
    return Sample(inputs, attrs, reference, holds, grad, name_of_case, unknown_sizes=unknown_sizes)


def fails(
    error: type[Exception],
    law: str,
    *inputs: Any,
    by_value: bool = False,
    name_of_case: str = "",
    **attrs: Any,
) -> Sample:
    """A call that raises `error` with `law` in its message."""
    return Sample(inputs, attrs, case=name_of_case, error=error, law=law, by_value=by_value)


def make_floats(dtype: Any, *shape: int, low: float = -2.0, high: float = 2.0) -> np.ndarray:
    """Numbers from `low` to `high`, one in each of equal parts; 0.05 at least from zero."""
    random, size = PLACE.random(), int(np.prod(shape))
    parts = random.permutation(size) + random.uniform(0.25, 0.75, size)
    values = low + (high - low) * parts / max(size, 1)
    if low < 0 < high:
        values += np.where(np.abs(values) < 0.05, np.copysign(0.05, values), 0.0)
    return values.reshape(shape).astype(dtype)


def make_complex(dtype: Any, *shape: int, low: float = -2.0, high: float = 2.0) -> np.ndarray:
    """Complex numbers with both parts between `low` and `high`."""
    parts = [make_floats("float64", *shape, low=low, high=high) for _ in range(2)]
    return np.asarray(parts[0] + 1j * parts[1], dtype)


def make_integers(dtype: Any, *shape: int, low: int | None = None, high: int = 10) -> np.ndarray:
    """Integers from `low` (-10, or 0 where the element type has no sign) to `high` - 1."""
    lowest = low if low is not None else 0 if np.dtype(dtype).kind == "u" else -10
    return PLACE.random().integers(lowest, high, shape).astype(dtype)


f16, bf16 = partial(make_floats, "float16"), partial(make_floats, ml_dtypes.bfloat16)
f32, f64 = partial(make_floats, "float32"), partial(make_floats, "float64")
c64, c128 = partial(make_complex, "complex64"), partial(make_complex, "complex128")
u8, i8, i16 = (partial(make_integers, t) for t in ("uint8", "int8", "int16"))
i32, i64 = partial(make_integers, "int32"), partial(make_integers, "int64")


def boolean(*shape: int) -> np.ndarray:
    """Truth values."""
    return np.asarray(PLACE.random().integers(0, 2, shape).astype(bool))


def array(values: Any, dtype: Any = "float32") -> np.ndarray:
    """The given values."""
    return np.array(values, dtype)


def rows(height: int, chosen: list[int], *shape: int, dtype: Any = "float32") -> Rows:
    """A row-sparse matrix with `height` rows: a row of shape `shape` for each of `chosen`."""
    values = make_floats(dtype, len(chosen), *shape)
    return Rows(np.array(chosen, "int64"), values, height)


def strided(x: np.ndarray) -> np.ndarray:
    """The elements of `x` with gaps between them: not contiguous in memory."""
    wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
    wide[..., ::2] = x
    return wide[..., ::2]
